import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadLimitDefaults } from '../../apiserver/accounts/admin/config.ts'
import { ApiKeyLookup } from '../../apiserver/accounts/keys/api-key-lookup.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { createAdmission } from '../support/admission.ts'
import { addKey } from '../support/api-server.ts'
import { noLease } from '../support/leases.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

const stack = await useOwnStack()
const jobs = '/v1/preview/training-jobs'
let pool: Pool
let entity: string
let key: string
let rest: Rest

beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 8)
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(pool, entity)
  rest = createRest(stack, key)
})
afterAll(() => pool.end())

/** A request whose body is sent in pieces, and never ended. */
function open(method: string, route: string, headers: Record<string, string> = {}) {
  const sent = request(stack.url + route, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
  })
  sent.on('error', () => {})
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject)
  }).then(async (response) => {
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return { status: response.statusCode, detail: (JSON.parse(text) as { detail: unknown }).detail }
  })
  return { sent, answer }
}

/** Sends this many bytes as fast as the server reads them, until there is a response. Returns how many were sent. */
async function pour({ sent, answer }: ReturnType<typeof open>, bytes: number): Promise<number> {
  let isAnswered = false
  const answered = answer.then(() => (isAnswered = true))
  const chunk = Buffer.alloc(64 * 1024, ' ')
  let size = 0
  for (; size < bytes && !isAnswered; size += chunk.length) {
    if (!sent.write(chunk)) await Promise.race([once(sent, 'drain'), answered])
  }
  return size
}

const limitTo = async (storedBytes: number) => setLimits(pool, entity, { storedBytes })

describe('a body for a missing model', () => {
  const strange = async () => [randomUUID(), (await createRest(stack).createModel()).id]

  test('is rejected while it arrives', async () => {
    for (const modelId of await strange()) {
      const posted = open('POST', jobs)
      posted.sent.write(`{"model_id":"${modelId}", "trajectory_groups": nonsense`)
      expect(await posted.answer).toEqual({ status: 404, detail: `Model ${modelId} not found` })
      posted.sent.destroy()
    }
  })

  test('is rejected before it arrives if the path names the model', async () => {
    for (const modelId of await strange()) {
      const logged = open('POST', `/v1/preview/models/${modelId}/log`)
      logged.sent.write('{')
      expect(await logged.answer).toEqual({ status: 404, detail: `Model ${modelId} not found` })
      logged.sent.destroy()
    }
  })

  test('is rejected after it has arrived if another member comes first', async () => {
    const answer = await rest.send('POST', jobs, { trajectory_groups: [], model_id: randomUUID() })
    expect(answer.status).toBe(404)
  })

  test('gets its issues if its model_id is neither an id nor a name', async () => {
    const answer = await rest.send('POST', jobs, { model_id: 'a b', trajectory_groups: [] })
    expect(answer.status).toBe(422)
  })
})

describe('a body without a length, from an entity at its limit', () => {
  const bytes = 200 * 1024 * 1024
  const full = { status: 403, detail: expect.stringContaining('Its limit stored_bytes') as string }

  test.each<[string, Record<string, string>]>([
    ['without an Idempotency-Key', {}],
    ['with an Idempotency-Key', { 'idempotency-key': randomUUID() }],
  ])('%s is not received: trajectories', async (_name, headers) => {
    const { id } = await rest.createModel()
    await limitTo(100_000)
    const posted = open('POST', jobs, headers)
    posted.sent.write(`{"model_id":"${id}",`)
    const size = await pour(posted, bytes)
    expect(await posted.answer).toEqual(full)
    expect(size).toBeLessThan(bytes / 2)
    posted.sent.destroy()
  })

  test.each<[string, string]>([
    ['a data set', ''],
    ['a file of one', `/blobs/${createHash('sha256').digest('hex')}`],
  ])('is not received: %s', async (_name, more) => {
    await limitTo(100_000)
    const type = { 'content-type': 'application/octet-stream' }
    const upload = open('PUT', `/v1/preview/artifacts/${entity}/tests/data${more}`, type)
    const size = await pour(upload, bytes)
    expect(await upload.answer).toEqual(full)
    expect(size).toBeLessThan(bytes / 2)
    upload.sent.destroy()
  })
})

/** Bytes of each body that is being received. */
async function listSpoolSizes(): Promise<(number | undefined)[]> {
  const folder = path.join(stack.artifacts, '.spool')
  const names = await readdir(folder).catch(() => [])
  return Promise.all(
    names.map((name) =>
      stat(path.join(folder, name)).then(
        ({ size }) => size,
        () => undefined,
      ),
    ),
  )
}

test('concurrent uploads count together, and an aborted one no longer counts', async () => {
  await limitTo(1_000_000)
  const type = { 'content-type': 'application/octet-stream' }
  const target = `/v1/preview/artifacts/${entity}/tests/data?check=none`
  const first = open('PUT', target, type)
  const size = await pour(first, 700_000)
  // Other tests have files there too.
  await eventually(async () => expect(await listSpoolSizes()).toContain(size))
  const put = () =>
    fetch(stack.url + target, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, ...type },
      body: new Uint8Array(400_000),
    })
  await eventually(async () => expect((await put()).status).toBe(403))
  first.answer.catch(() => {})
  first.sent.destroy()
  await eventually(async () => expect((await put()).status).toBe(200))
})

const lookUp = (own: Pool) =>
  new ApiKeyLookup({ admission: createAdmission(), pool: own, lease: noLease, limitDefaults: loadLimitDefaults() })
const randomDigest = () => randomBytes(32).toString('base64')

describe('wrong keys', () => {
  let own: Pool
  beforeAll(() => {
    own = createPool(stack.databaseUrl, createLogger('test', 'silent'), 20)
  })
  afterAll(() => own.end())

  test('that are sent repeatedly are not looked up each time', async () => {
    const keys = lookUp(own)
    const digest = randomDigest()
    let queries = 0
    own.on('acquire', () => queries++)
    for (let times = 0; times < 30; times++) expect(await keys.find(digest, '192.0.2.1')).toBeUndefined()
    expect(queries).toBeLessThanOrEqual(3)
  })

  test('that are all different use few connections, and valid keys do not wait for them', async () => {
    const keys = lookUp(own)
    const right = createHash('sha256').update(key).digest('base64')
    expect(await keys.find(right, '192.0.2.2')).toMatchObject({ caller: { entity } })
    let flooded = 0
    const flood = Array.from({ length: 300 }, () => keys.find(randomDigest(), '192.0.2.1').then(() => flooded++))
    expect(await keys.find(right, '192.0.2.2')).toMatchObject({ caller: { entity } })
    expect(flooded).toBeLessThan(100)
    expect(own.totalCount).toBeLessThanOrEqual(6)
    await Promise.all(flood)
  })

  test('beyond the queue are rejected, and a valid key of another address waits for few of them', async () => {
    const keys = lookUp(own)
    let flooded = 0
    const flood = Array.from({ length: 5_000 }, () => keys.find(randomDigest(), '192.0.2.1').then(() => flooded++))
    const outcomes = Promise.allSettled(flood)
    const right = createHash('sha256').update(key).digest('base64')
    expect(await keys.find(right, '192.0.2.2')).toMatchObject({ caller: { entity } })
    expect(flooded).toBeLessThan(500)
    const refused = (await outcomes).filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(2_000)
    expect(refused[0]).toMatchObject({ reason: { status: 503, headers: { 'Retry-After': '1' } } })
  })
})
