import { createHmac, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { errors } from '../../apiserver/errors/table.ts'
import type { Pool } from '../../db/pool.ts'
import { resealSecrets } from '../../db/webhooks/sealing.ts'
import { createLogger } from '../../lib/log.ts'
import { createOutbound } from '../../lib/outbound/outbound.ts'
import { SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { WebhookDeliverer } from '../../operator/webhooks/deliverer.ts'
import { addKey, serveApi, useApiServer, webhookKey } from '../support/api-server.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useServices } from '../support/services.ts'
import { openReceiver, type Received } from '../support/webhook-receiver.ts'
import { post } from '../support/post.ts'

const stack = useServices()
const hosts = { TRAINYARD_WEBHOOK_HOSTS: 'http://*:*', TRAINYARD_PRIVATE_NETWORKS: '127.0.0.0/8' }
const own = useApiServer(hosts)
const keys = new SealingKeys([webhookKey])
const newKeys = new SealingKeys(['another key of the secrets of webhooks', webhookKey])
const path = '/v1/preview/webhooks'

interface Webhook {
  id: string
  secret: string
}

/** All rows of all tables, as text. */
async function dump(pool: Pool): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const texts = tables.map(async ({ name }) => {
    const { rows } = await pool.query<{ row: string }>(`SELECT each::text AS row FROM ${name} each`)
    return rows.map(({ row }) => `${name} ${row}`).join('\n')
  })
  return (await Promise.all(texts)).join('\n')
}

/** Makes an event of an entity, and delivers until it has been tried. @returns the signed requests and the log */
async function deliver(pool: Pool, entity: string, wanted: { sealingKeys: SealingKeys; received: Received[] }) {
  const log = createLogger('test', 'silent')
  const error = vi.spyOn(log, 'error')
  const outbound = createOutbound({ hosts: ['http://*:*'], privateNetworks: ['127.0.0.0/8'] })
  const { sealingKeys, received } = wanted
  const deliverer = new WebhookDeliverer({ pool, log, outbound, sealingKeys })
  const before = received.length
  const subject = randomUUID()
  await pool.query(
    `INSERT INTO training.outbox (entity, project, kind, subject_id, data) VALUES ($1, 'p', 'model.created', $2, '{}')`,
    [entity, subject],
  )
  deliverer.start()
  try {
    await eventually(async () => {
      const { rows } = await pool.query(
        'SELECT FROM training.webhook_deliveries WHERE subject_id = $1 AND attempts > 0 AND claim IS NULL',
        [subject],
      )
      expect(rows).toHaveLength(1)
    })
  } finally {
    await deliverer.close()
    await outbound.close()
  }
  return { requests: received.slice(before), logged: error.mock.calls }
}

function listSigners({ body, headers }: Received, secrets: readonly string[]): boolean[] {
  const [time, ...signatures] = String(headers['trainyard-signature']).split(',')
  return secrets.map((secret) =>
    signatures.includes(
      `v1=${createHmac('sha256', secret)
        .update(`${time!.slice(2)}.${body}`)
        .digest('hex')}`,
    ),
  )
}

async function receive() {
  const receiver = await openReceiver()
  onTestFinished(receiver.close)
  return receiver
}

const readDeliveries = ({ id }: Webhook, from: Rest) =>
  from.call<{ data: { state: string; last_error: string | null }[] }>('GET', `${path}/${id}/deliveries`)

test('the database never contains a secret, also not in answers of repeated requests', async () => {
  const { pool } = own.database
  const key = await addKey(pool, 'acme', 'admin')
  const send = async (to: string, idempotencyKey: string, body?: object) => {
    const headers = { 'idempotency-key': idempotencyKey }
    const response = await post(own.server.url + to, key, body, { headers })
    expect(response.status).toBe(200)
    return (await response.json()) as Webhook
  }
  const create = () => send(path, 'create', { url: 'http://127.0.0.1:9/' })
  const [made, repeated] = [await create(), await create()]
  expect(repeated).toEqual(made)
  const rotate = () => send(`${path}/${made.id}/rotate-secret`, 'rotate')
  const [rotated, again] = [await rotate(), await rotate()]
  expect(again).toEqual(rotated)
  expect(rotated.secret).not.toBe(made.secret)
  const text = await dump(pool)
  expect(text).toContain(made.id)
  for (const { secret } of [made, rotated]) expect(text).not.toContain(secret.slice('whsec_'.length))
  expect(text).not.toContain('whsec_')
})

test('after a change of the key, everything is encrypted with the new one, and the earlier one can go', async () => {
  const { pool } = own.database
  const receiver = await receive()
  const admin = await own.join('changing', 'admin')
  const first = await admin.call<Webhook>('POST', path, { url: receiver.url, events: ['model.created'] })
  const second = await admin.call<Webhook>('POST', `${path}/${first.id}/rotate-secret`)
  expect(await resealSecrets(pool, newKeys)).toEqual([])
  const { requests } = await deliver(pool, 'changing', {
    sealingKeys: new SealingKeys(['another key of the secrets of webhooks']),
    received: receiver.received,
  })
  expect(listSigners(requests[0]!, [first.secret, second.secret])).toEqual([true, true])
  expect(await resealSecrets(pool, new SealingKeys([webhookKey, 'another key of the secrets of webhooks']))).toEqual([])
})

test('without its key, nothing is sent, the delivery says why, and a new secret mends it', async () => {
  const { pool } = own.database
  const receiver = await receive()
  const admin = await own.join('losing', 'admin')
  const lost = await admin.call<Webhook>('POST', path, { url: receiver.url, events: ['model.created'] })
  const others = new SealingKeys(['a key of somebody else'])
  const { requests, logged } = await deliver(pool, 'losing', {
    sealingKeys: others,
    received: receiver.received,
  })
  expect(requests).toEqual([])
  expect(logged[0]?.[1]).toBe('a secret of a webhook cannot be decrypted')
  const { data } = await readDeliveries(lost, admin)
  expect(data).toMatchObject([
    {
      state: 'pending',
      last_error: expect.stringMatching(/^its secret cannot be decrypted: there is no key with the id \w+; rotate it$/),
    },
  ])
  const server = await serveApi(stack, own.database.databaseUrl, {
    TRAINYARD_WEBHOOK_KEY: 'a key of somebody else',
    ...hosts,
  })
  onTestFinished(server.remove)
  const elsewhere = createRest({ ...stack, url: server.url }, await addKey(pool, 'losing', 'admin'))
  const { secret } = await elsewhere.call<Webhook>('POST', `${path}/${lost.id}/rotate-secret`)
  await elsewhere.call('POST', `${path}/${lost.id}/replay`)
  const mended = await deliver(pool, 'losing', { sealingKeys: others, received: receiver.received })
  expect(mended.requests.map((each) => listSigners(each, [lost.secret, secret]))).toContainEqual([false, true])
})

test('a secret that was copied into another row is not used', async () => {
  const { pool } = own.database
  const receiver = await receive()
  const [mine, theirs] = [await own.join('mine', 'admin'), await own.join('theirs', 'admin')]
  const body = { url: receiver.url, events: ['model.created'] }
  const [a, b] = [await mine.call<Webhook>('POST', path, body), await theirs.call<Webhook>('POST', path, body)]
  await pool.query(
    'UPDATE training.webhooks SET sealed_secret = (SELECT sealed_secret FROM training.webhooks WHERE id = $1) WHERE id = $2',
    [a.id, b.id],
  )
  const { requests } = await deliver(pool, 'theirs', { sealingKeys: keys, received: receiver.received })
  expect(requests).toEqual([])
  expect((await readDeliveries(b, theirs)).data).toMatchObject([
    { last_error: 'its secret cannot be decrypted: it was changed, or it belongs to another row; rotate it' },
  ])
})

test('an installation without a key says so, and creates no webhook', async () => {
  const database = await createTestDatabase()
  const server = await serveApi(stack, database.databaseUrl, { TRAINYARD_WEBHOOK_KEY: '', ...hosts })
  onTestFinished(async () => {
    await server.remove()
    await database.drop()
  })
  const keyless = createRest({ ...stack, url: server.url }, await addKey(database.pool, 'acme', 'admin'))
  const ask = async (to: string, body?: object) => {
    const response = await keyless.send('POST', to, body)
    return [response.status, ((await response.json()) as { detail: string }).detail]
  }
  expect(await ask(path, { url: 'http://127.0.0.1:9/' })).toEqual([503, errors.webhook_key_missing.sentence])
  expect(await ask(`${path}/${randomUUID()}/rotate-secret`)).toEqual([503, errors.webhook_key_missing.sentence])
})
