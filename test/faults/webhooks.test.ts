import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { insertApiKey } from '../../db/accounts/api-keys.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { openSecret } from '../../db/webhooks/sealing.ts'
import { createLogger } from '../../lib/log.ts'
import { SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { readSettings } from '../../local/stack/settings.ts'
import { eventually } from '../support/eventually.ts'
import { killPart } from '../support/kill.ts'
import { post } from '../support/post.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { openReceiver, type Received, type Receiver } from '../support/webhook-receiver.ts'

interface Webhook {
  id: string
  secret: string
  events: string[]
}

interface Delivery {
  id: string
  event_id: string
  type: string
  subject_id: string
  position: number
  state: string
  attempts: number
  last_status: number | null
  delivered_at: string | null
  next_attempt_at: string | null
}

const stack = useStack()
const rest = createRest(stack)
const path = '/v1/preview/webhooks'
const failure = { category: 'User', reason: 'Test', message: 'told to', retryable: false } as const
const receivers: Receiver[] = []
const webhooks: string[] = []
let pool: Pool

beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 4)
})
afterAll(() => pool.end())

// Webhooks of one test must not be called for jobs of the next.
afterEach(async () => {
  for (const id of webhooks.splice(0)) await rest.send('DELETE', `${path}/${id}`)
  for (const receiver of receivers.splice(0)) await receiver.close()
})

async function receive(answer?: Parameters<typeof openReceiver>[0]): Promise<Receiver> {
  const receiver = await openReceiver(answer)
  receivers.push(receiver)
  return receiver
}

async function addWebhook(url: string, more: object = {}): Promise<Webhook> {
  const webhook = await rest.call<Webhook>('POST', path, { url, ...more })
  webhooks.push(webhook.id)
  return webhook
}

/** Posts with an Idempotency-Key. */
async function postOnce(to: string, key: string, body?: object): Promise<Webhook> {
  const response = await post(stack.url + to, stack.apiKey, body, { headers: { 'idempotency-key': key } })
  return (await response.json()) as Webhook
}

const addModel = () => rest.createModel()
const addJob = (modelId: string) => rest.startJob(modelId, [])
const listDeliveries = async ({ id }: Webhook) =>
  (await rest.call<{ data: Delivery[] }>('GET', `${path}/${id}/deliveries?limit=100`)).data

/** Creates a job and fails it. */
async function failNewJob(modelId?: string): Promise<string> {
  const id = await addJob(modelId ?? (await addModel()).id)
  await failJob(pool, id, failure)
  return id
}

/** Verifies a signature as a receiver would. */
function isSigned({ body, headers }: Received, secret: string): boolean {
  const [time, ...signatures] = String(headers['trainyard-signature']).split(',')
  const wanted = createHmac('sha256', secret)
    .update(`${time!.slice(2)}.${body}`)
    .digest()
  const isFresh = Math.abs(Date.now() / 1000 - Number(time!.slice(2))) < 300
  return (
    isFresh &&
    signatures.some((part) => part.startsWith('v1=') && timingSafeEqual(Buffer.from(part.slice(3), 'hex'), wanted))
  )
}

const parse = ({ body }: Received) =>
  JSON.parse(body) as { id: string; type: string; data: { training_job: { id: string } } }
const of = (receiver: Receiver, jobId: string) =>
  receiver.received.filter((received) => parse(received).data.training_job?.id === jobId)
const waitFor = (receiver: Receiver, jobId: string, count = 1, timeoutMs = 10_000) =>
  eventually(() => {
    expect(of(receiver, jobId).length).toBeGreaterThanOrEqual(count)
    return of(receiver, jobId)
  }, timeoutMs)

describe('a delivery', () => {
  test('describes how a job ended, and is signed', async () => {
    const receiver = await receive()
    const webhook = await addWebhook(receiver.url)
    expect(webhook).toMatchObject({
      secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
      events: ['training_job.succeeded', 'training_job.failed', 'training_job.cancelled'],
    })
    const model = await addModel()
    const jobId = await failNewJob(model.id)
    const [received] = await waitFor(receiver, jobId)

    expect(isSigned(received!, webhook.secret)).toBe(true)
    expect(isSigned({ ...received!, body: `${received!.body} ` }, webhook.secret)).toBe(false)
    expect(isSigned(received!, `${webhook.secret}x`)).toBe(false)
    const [delivery] = await eventually(async () => {
      const deliveries = await listDeliveries(webhook)
      expect(deliveries[0]?.state).toBe('delivered')
      return deliveries
    })
    expect(received!.headers).toMatchObject({
      'content-type': 'application/json',
      'trainyard-delivery': delivery!.id,
    })
    expect(JSON.parse(received!.body)).toEqual({
      id: delivery!.event_id,
      type: 'training_job.failed',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: {
        training_job: {
          id: jobId,
          model_id: model.id,
          model_name: model.name,
          entity: model.entity,
          project: 'tests',
          method: 'RL',
          state: 'Failed',
          attempt: 0,
          step: null,
          warnings: [],
          failure,
          created_at: expect.any(String),
          started_at: null,
          finished_at: expect.stringMatching(/Z$/),
        },
      },
    })
    expect(delivery).toMatchObject({
      type: 'training_job.failed',
      subject_id: jobId,
      attempts: 1,
      last_status: 200,
      next_attempt_at: null,
      delivered_at: expect.any(String),
    })
  })

  test('is signed with both secrets during a rotation', async () => {
    const receiver = await receive()
    const webhook = await addWebhook(receiver.url)
    const { secret } = await rest.call<Webhook>('POST', `${path}/${webhook.id}/rotate-secret`)
    expect(secret).not.toBe(webhook.secret)
    const [received] = await waitFor(receiver, await failNewJob())
    expect([webhook.secret, secret].map((each) => isSigned(received!, each))).toEqual([true, true])
  })

  test('is only sent to webhooks that subscribed to its kind and project', async () => {
    const receiver = await receive()
    await addWebhook(`${receiver.url}/cancelled`, { events: ['training_job.cancelled'] })
    await addWebhook(`${receiver.url}/elsewhere`, { project: 'elsewhere' })
    await addWebhook(`${receiver.url}/here`, { project: 'tests' })
    const [failed, cancelled] = [await failNewJob(), await addJob((await addModel()).id)]
    await cancelJob(pool, cancelled)
    await waitFor(receiver, cancelled, 2)
    expect(
      of(receiver, cancelled)
        .map(({ path: at }) => at)
        .toSorted(),
    ).toEqual(['/cancelled', '/here'])
    expect(of(receiver, failed).map(({ path: at }) => at)).toEqual(['/here'])
  })
})

describe('failed deliveries are sent again', () => {
  test('after errors, until it is accepted', async () => {
    const receiver = await receive((_, index) => (index < 2 ? 500 : 204))
    const webhook = await addWebhook(receiver.url)
    const jobId = await failNewJob()
    const attempts = await waitFor(receiver, jobId, 3, 20_000)
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1)
    await eventually(async () =>
      expect(await listDeliveries(webhook)).toMatchObject([{ state: 'delivered', attempts: 3, last_status: 204 }]),
    )
  })

  test('when the receiver was down', async () => {
    const receiver = await receive()
    const webhook = await addWebhook(receiver.url)
    await receiver.down()
    const jobIds = [await failNewJob(), await failNewJob()]
    await eventually(async () =>
      expect(await listDeliveries(webhook)).toContainEqual(
        expect.objectContaining({ state: 'pending', last_status: null, last_error: expect.any(String) }),
      ),
    )
    await receiver.up()
    for (const jobId of jobIds) await waitFor(receiver, jobId, 1, 30_000)
  })

  test('until they are given up after a day, and can be replayed', async () => {
    let answer = 500
    const receiver = await receive(() => answer)
    const webhook = await addWebhook(receiver.url)
    const jobId = await failNewJob()
    await waitFor(receiver, jobId)
    await pool.query('UPDATE training.webhook_deliveries SET gives_up_at = now() WHERE webhook_id = $1', [webhook.id])
    await eventually(async () =>
      expect(await listDeliveries(webhook)).toMatchObject([{ state: 'failed', next_attempt_at: null }]),
    )
    answer = 200
    expect(await rest.call('POST', `${path}/${webhook.id}/replay`)).toEqual({ replayed: 1 })
    await eventually(async () => expect(await listDeliveries(webhook)).toMatchObject([{ state: 'delivered' }]))
  })

  test('even if the operator is killed between sending and recording', async () => {
    const receiver = await receive((_, index) => (index === 0 ? 'never' : 200))
    const webhook = await addWebhook(receiver.url)
    const jobId = await failNewJob()
    const [first] = await waitFor(receiver, jobId)
    await killPart(stack, 'operator')
    const [, second] = await waitFor(receiver, jobId, 2, 60_000)
    expect(second!.headers['trainyard-delivery']).toBe(first!.headers['trainyard-delivery'])
    expect(second!.body).toBe(first!.body)
    await eventually(async () => expect(await listDeliveries(webhook)).toMatchObject([{ state: 'delivered' }]))
  })
})

test('deliveries of one job stay in order, even if answers fail at random', async () => {
  const receiver = await receive((_, index) => ((index * 7919) % 3 === 0 ? 503 : 200))
  const events = ['pending', 'queued', 'starting', 'failed', 'cancelled'].map((state) => `training_job.${state}`)
  const webhook = await addWebhook(receiver.url, { events })
  const model = await addModel()
  const jobIds = await Promise.all(Array.from({ length: 10 }, () => addJob(model.id)))
  await eventually(async () => {
    const { rows } = await pool.query(`SELECT FROM training.jobs WHERE model_id = $1 AND state = 'Queued'`, [model.id])
    expect(rows).toHaveLength(10)
  })
  await Promise.all(jobIds.map((id) => failJob(pool, id, failure)))
  await eventually(async () => {
    const deliveries = await listDeliveries(webhook)
    expect(deliveries.filter(({ state }) => state === 'delivered')).toHaveLength(30)
  })
  for (const jobId of jobIds) {
    const taken = of(receiver, jobId).filter(({ status }) => status === 200)
    expect(taken.map((received) => parse(received).type)).toEqual([
      'training_job.pending',
      'training_job.queued',
      'training_job.failed',
    ])
  }
})

test('endpoints that never answer do not delay others', async () => {
  const dead = await receive(() => 'never')
  for (let index = 0; index < 20; index++) await addWebhook(`${dead.url}/${index}`)
  const model = await addModel()
  for (let index = 0; index < 6; index++) await failNewJob(model.id)
  await eventually(() => expect(dead.received.length).toBeGreaterThanOrEqual(20))

  const alive = await receive()
  await addWebhook(alive.url)
  const startedMs = performance.now()
  await waitFor(alive, await failNewJob(model.id))
  expect(performance.now() - startedMs).toBeLessThan(6_000)
})

describe('a replay', () => {
  test('of one delivery sends the same event again', async () => {
    const receiver = await receive()
    const webhook = await addWebhook(receiver.url)
    const jobId = await failNewJob()
    await waitFor(receiver, jobId)
    const [delivery] = await eventually(async () => {
      const deliveries = await listDeliveries(webhook)
      expect(deliveries[0]?.state).toBe('delivered')
      return deliveries
    })
    await rest.call('POST', `${path}/${webhook.id}/deliveries/${delivery!.id}/replay`)
    const [first, second] = await waitFor(receiver, jobId, 2)
    expect(second!.body).toBe(first!.body)
  })

  test('after a position or a time includes changes from before the webhook', async () => {
    const before = new Date()
    const [older, newer] = [await failNewJob(), await failNewJob()]
    const receiver = await receive()
    const webhook = await addWebhook(receiver.url)
    expect(await rest.call('POST', `${path}/${webhook.id}/replay`, { after: before.toISOString() })).toEqual({
      replayed: 2,
    })
    await waitFor(receiver, older)
    await waitFor(receiver, newer)
    const first = (await listDeliveries(webhook)).find(({ subject_id }) => subject_id === older)!
    const again = { after_position: first.position }
    expect(await rest.call('POST', `${path}/${webhook.id}/replay`, again)).toEqual({ replayed: 1 })
    await waitFor(receiver, newer, 2)
    expect(of(receiver, older)).toHaveLength(1)
  })
})

describe('the resource', () => {
  test('is listed, read and deleted; its secret is shown once', async () => {
    const receiver = await receive()
    const made = [await addWebhook(`${receiver.url}/a`), await addWebhook(`${receiver.url}/b`, { description: 'two' })]
    const { secret: _, ...shown } = made[0]!
    expect(await rest.call('GET', `${path}/${made[0]!.id}`)).toEqual(shown)
    expect((await rest.listAll(path)).map(({ id }) => id)).toEqual(made.map(({ id }) => id))
    expect(JSON.stringify(await rest.listAll(path))).not.toContain('whsec_')

    expect(await rest.call('DELETE', `${path}/${made[0]!.id}`)).toEqual({ id: made[0]!.id, deleted: true })
    for (const [method, at] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/deliveries'],
      ['POST', '/replay'],
      ['POST', '/rotate-secret'],
    ] as const) {
      expect((await rest.send(method, `${path}/${made[0]!.id}${at}`)).status).toBe(404)
    }
    const after = await rest.call<{ data: { id: string }[] }>('GET', `${path}?after=${made[0]!.id}`)
    expect(after.data.map(({ id }) => id)).toEqual([made[1]!.id])
  })

  test('is created once with an Idempotency-Key, with one secret', async () => {
    const make = () => postOnce(path, 'one-webhook', { url: 'https://example.com/hook' })
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, make))
    webhooks.push(first!.id)
    expect(others).toEqual(others.map(() => first))
  })

  test('gets another secret once with an Idempotency-Key, even if the answer was not kept', async () => {
    const webhook = await addWebhook('https://example.com/hook')
    const rotate = () => postOnce(`${path}/${webhook.id}/rotate-secret`, `rotate ${webhook.id}`)
    const first = await rotate()
    await pool.query("UPDATE auth.idempotent_requests SET answer = NULL, locked_until = '-infinity' WHERE key = $1", [
      `rotate ${webhook.id}`,
    ])
    expect(await rotate()).toEqual(first)
    const { rows } = await pool.query<{ entity: string; old: string }>(
      'SELECT entity, sealed_old_secret AS old FROM training.webhooks WHERE id = $1',
      [webhook.id],
    )
    const keys = new SealingKeys([readSettings(stack.stateFolder)!.secrets.webhookKey])
    expect(openSecret(keys, rows[0]!.old, { id: webhook.id, entity: rows[0]!.entity })).toBe(webhook.secret)
  })

  test('belongs to its entity, and is changed by admins only', async () => {
    const webhook = await addWebhook('https://example.com/hook')
    const delivery = randomUUID()
    const keys = { foreign: `foreign-${randomUUID()}`, member: `member-${randomUUID()}` }
    const digest = (key: string) => createHash('sha256').update(key).digest()
    const { entity } = await addModel()
    const made = { id: randomUUID(), prefix: 'test-' }
    await insertApiKey(pool, { ...made, entity: 'another-team', digest: digest(keys.foreign), role: 'admin' })
    await insertApiKey(pool, { ...made, id: randomUUID(), entity, digest: digest(keys.member), role: 'member' })
    const [foreign, member] = [createRest(stack, keys.foreign), createRest(stack, keys.member)]
    for (const [method, at, asMember] of [
      ['GET', '', 200],
      ['GET', '/deliveries', 200],
      ['POST', '/replay', 403],
      ['POST', '/rotate-secret', 403],
      ['POST', `/deliveries/${delivery}/replay`, 403],
      ['DELETE', '', 403],
    ] as const) {
      const theirs = await foreign.send(method, `${path}/${webhook.id}${at}`)
      const unknown = await foreign.send(method, `${path}/${randomUUID()}${at}`)
      expect({ status: theirs.status, body: await theirs.text() }).toEqual({ status: 404, body: await unknown.text() })
      expect((await member.send(method, `${path}/${webhook.id}${at}`)).status).toBe(asMember)
    }
    expect(await foreign.call('GET', path)).toMatchObject({ data: [] })
    expect((await foreign.send('GET', `${path}?after=${webhook.id}`)).status).toBe(422)
    expect((await rest.send('POST', `${path}/${webhook.id}/deliveries/${delivery}/replay`)).status).toBe(404)
  })

  test.for([
    'http://example.com/hook',
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://localhost/hook',
    'https://2130706433/hook',
    'https://user:password@example.com/hook',
    'ftp://example.com/hook',
    'example.com',
    '\u0000',
  ])('cannot have the address %j', async (url) => {
    const response = await rest.send('POST', path, { url })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['body', 'url'], type: 'value_error' }] })
  })
})

test('a late commit gets a later position, so that no reader misses it', async () => {
  const { id: modelId } = await addModel()
  const jobIds = await Promise.all([addJob(modelId), addJob(modelId)])
  const positions = async () => {
    const { rows } = await pool.query<{ id: string; position: number | null }>(
      `SELECT subject_id AS id, position FROM training.outbox WHERE subject_id = ANY ($1) AND kind = 'training_job.failed'`,
      [jobIds],
    )
    return new Map(rows.map(({ id, position }) => [id, position]))
  }
  const late = await pool.connect()
  await late.query('BEGIN')
  await late.query(`UPDATE training.jobs SET state = 'Failed', finished_at = now() WHERE id = $1`, [jobIds[0]])
  await failJob(pool, jobIds[1], failure)
  const early = await eventually(async () => {
    const position = (await positions()).get(jobIds[1])
    expect(position).toEqual(expect.any(Number))
    return position!
  })
  await late.query('COMMIT')
  late.release()
  await eventually(async () => expect((await positions()).get(jobIds[0])).toBeGreaterThan(early))
})
