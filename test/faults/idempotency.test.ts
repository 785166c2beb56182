import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIdempotencyStore } from '../../db/idempotent-requests.ts'
import { Idempotency } from '../../lib/http/idempotency.ts'
import { RequestIds } from '../../lib/http/request-ids.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { insertApiKey } from '../../db/accounts/api-keys.ts'
import { expireKeyedRequests } from '../../db/idempotent-requests.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { killPart } from '../support/kill.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const otherKey = `other-${randomUUID()}`
let pool: Pool

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 4)
  const digest = createHash('sha256').update(otherKey).digest()
  await insertApiKey(pool, { id: randomUUID(), entity: 'another-team', digest, prefix: 'other-', role: 'admin' })
})
afterAll(() => pool.end())

interface Answer {
  status: number
  text: string
  replayed: boolean
  retryAfter: string | null
}

async function send(path: string, body: unknown, key: string | undefined, apiKey = stack.apiKey): Promise<Answer> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  const response = await post(stack.url + path, apiKey, body, { headers })
  const replayed = response.headers.get('idempotent-replayed') === 'true'
  return {
    status: response.status,
    text: await response.text(),
    replayed,
    retryAfter: response.headers.get('retry-after'),
  }
}

const modelsPath = '/v1/preview/models'
const jobsPath = '/v1/preview/training-jobs'
const newModel = (name?: string) => ({ project: 'idempotency', base_model: stack.baseModel, ...(name && { name }) })
const readId = ({ text }: Answer) => (JSON.parse(text) as { id: string }).id
const countModels = async (name: string) =>
  (await pool.query('SELECT FROM training.models WHERE name = $1', [name])).rowCount
const listJobs = async (modelId: string) =>
  (await pool.query<{ id: string }>('SELECT id FROM training.jobs WHERE model_id = $1', [modelId])).rows

/** Holds a lock while `work` runs. */
async function whileLocked<T>(statement: string, values: unknown[], work: () => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query(statement, values)
    return await work()
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

/** Waits until a query with these words waits for a lock. Returns the backend's process id. */
function waitForBlocked(words: string): Promise<number> {
  return eventually(async () => {
    const { rows } = await pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`,
      [`%${words}%`],
    )
    if (!rows[0]) throw new Error(`nothing waits with ${words}`)
    return rows[0].pid
  })
}

describe('1,000 concurrent requests with one key', () => {
  test('create one job and all get the same answer', async () => {
    const modelId = readId(await send(modelsPath, newModel(), undefined))
    const key = randomUUID()
    const body = { model_id: modelId, trajectory_groups: [] }
    const answers = await Promise.all(Array.from({ length: 1000 }, () => send(jobsPath, body, key)))

    const jobs = await listJobs(modelId)
    expect(jobs).toHaveLength(1)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set([`200 {"id":"${jobs[0]!.id}"}`]),
    )
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
  })

  test('create one model, even without a name', async () => {
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 1000 }, () => send(modelsPath, newModel(), key)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]!.status).toBe(200)
  })
})

describe('a key that was used', () => {
  test('with another body or another path is a 409', async () => {
    const key = randomUUID()
    const first = await send(modelsPath, newModel('one'), key)
    expect(first.status).toBe(200)
    for (const [path, body] of [
      [modelsPath, newModel('two')],
      [`${modelsPath}?x=1`, newModel('one')],
      [jobsPath, { model_id: readId(first), trajectory_groups: [] }],
    ] as const) {
      const detail = 'This Idempotency-Key belongs to another request. Send a new key.'
      expect(await send(path, body, key)).toEqual({
        status: 409,
        text: JSON.stringify({ detail }),
        replayed: false,
        retryAfter: null,
      })
    }
    expect(await send(modelsPath, newModel('one'), key)).toEqual({ ...first, replayed: true })
  })

  test('is free for another entity', async () => {
    const key = randomUUID()
    const ours = await send(modelsPath, newModel('shared'), key)
    const theirs = await send(modelsPath, newModel('shared'), key, otherKey)
    expect(theirs).toMatchObject({ status: 200, replayed: false })
    expect(readId(theirs)).not.toBe(readId(ours))
  })

  test('is free again after a rejected request, and after a day', async () => {
    const key = randomUUID()
    expect(await send(modelsPath, { base_model: 'nobody/knows' }, key)).toMatchObject({ status: 422, replayed: false })
    const corrected = await send(modelsPath, newModel(), key)
    expect(corrected).toMatchObject({ status: 200, replayed: false })

    await pool.query(`UPDATE auth.idempotent_requests SET created_at = now() - interval '25 h' WHERE key = $1`, [key])
    await expireKeyedRequests(pool)
    const later = await send(modelsPath, newModel(), key)
    expect(later).toMatchObject({ status: 200, replayed: false })
    expect(readId(later)).not.toBe(readId(corrected))
  })
})

test.for([
  ['of no character', ''],
  ['of 256 characters', 'k'.repeat(256)],
  ['that is not ASCII', 'clé'],
])('a key %s is a 422', async ([, key]) => {
  const { status, text } = await send(modelsPath, newModel(), key)
  expect({ status, ...JSON.parse(text) }).toEqual({
    status: 422,
    detail: [
      {
        loc: ['header', 'idempotency-key'],
        msg: "String should match pattern '^[ -~]{1,255}$'",
        type: 'string_pattern_mismatch',
      },
    ],
  })
})

test('a repetition during the first request waits for its answer, and a request with another body does not', async () => {
  const key = randomUUID()
  const name = randomUUID()
  const answers = await whileLocked('LOCK TABLE training.models IN SHARE ROW EXCLUSIVE MODE', [], async () => {
    const pending = Array.from({ length: 50 }, () => send(modelsPath, newModel(name), key))
    await waitForBlocked('INSERT INTO training.models')
    expect((await send(modelsPath, newModel('other'), key)).status).toBe(409)
    return { pending }
  })
  expect(new Set((await Promise.all(answers.pending)).map(({ text }) => text)).size).toBe(1)
  expect(await countModels(name)).toBe(1)
})

test('another process waits for the answer without holding a connection', async () => {
  const log = createLogger('test', 'silent')
  const onlyOne = createPool(stack.databaseUrl, log, 1)
  const digest = createHash('sha256').update('{}').digest()
  const key = randomUUID()
  const ask = async (work: () => Promise<string>) => {
    // A second instance behaves like another process: it does not know the requests in progress of the first.
    const idempotency = new Idempotency(createIdempotencyStore(onlyOne), log)
    const headers: Record<string, string> = {}
    const ctx = {
      method: 'POST',
      url: '/x',
      req: { headers: { 'idempotency-key': key } },
      set: (name: string, value: string) => (headers[name] = value),
    }
    const request = { ctx, owner: 'two-processes', ids: new RequestIds(true) } as unknown as Parameters<
      Idempotency['answerOnce']
    >[0]
    return { answer: await idempotency.answerOnce(request, digest, work), headers }
  }
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<string>()
  const first = ask(() => (begun.resolve(), end.promise))
  await begun.promise
  const others = [ask(() => Promise.resolve('second')), ask(() => Promise.resolve('third'))]
  for (let count = 0; count < 5; count++) await onlyOne.query('SELECT pg_sleep(0.1)')
  end.resolve('first')
  expect(await first).toEqual({ answer: 'first', headers: {} })
  const replayed = { answer: 'first', headers: { 'Idempotent-Replayed': 'true' } }
  expect(await Promise.all(others)).toEqual([replayed, replayed])
  await onlyOne.end()
})

describe('an apiserver that is killed during a request creates nothing twice', () => {
  test('a model that was created before the answer', async () => {
    const key = randomUUID()
    const name = randomUUID()
    await whileLocked('LOCK TABLE training.models IN SHARE ROW EXCLUSIVE MODE', [], async () => {
      const broken = send(modelsPath, newModel(name), key).catch(() => 'broken off')
      await waitForBlocked('INSERT INTO training.models')
      await killPart(stack, 'apiserver')
      expect(await broken).toBe('broken off')
    })
    // The server finishes a query whose client has disconnected.
    await eventually(async () => expect(await countModels(name)).toBe(1))
    const answer = await eventually(() => send(modelsPath, newModel(name), key))
    expect(answer).toMatchObject({ status: 200, replayed: false })
    expect(await send(modelsPath, newModel(name), key)).toEqual({ ...answer, replayed: true })
  })

  test('a job that was created before the answer', async () => {
    const modelId = readId(await eventually(() => send(modelsPath, newModel(), undefined)))
    const key = randomUUID()
    const body = { model_id: modelId, trajectory_groups: [] }
    let broken: Promise<unknown> = Promise.resolve()
    const lockRequest = 'SELECT FROM auth.idempotent_requests WHERE key = $1 FOR UPDATE'
    const release = Promise.withResolvers<void>()
    const held = await whileLocked('LOCK TABLE training.jobs IN SHARE ROW EXCLUSIVE MODE', [], async () => {
      broken = send(jobsPath, body, key).catch(() => 'broken off')
      await waitForBlocked('INSERT INTO training.jobs')
      const locked = Promise.withResolvers<void>()
      const done = whileLocked(lockRequest, [key], () => (locked.resolve(), release.promise))
      await locked.promise
      return { done }
    })
    await waitForBlocked('SET answer')
    expect(await listJobs(modelId)).toHaveLength(1)
    await killPart(stack, 'apiserver')
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%idempotent_requests%'`,
    )
    release.resolve()
    await held.done
    expect(await broken).toBe('broken off')

    const [job] = await listJobs(modelId)
    const answer = await eventually(() => send(jobsPath, body, key))
    expect(answer).toMatchObject({ status: 200, text: JSON.stringify({ id: job!.id }), replayed: false })
    expect(await listJobs(modelId)).toEqual([job])
  })
})
