import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { markCheckpointsRemoved } from '../../db/deletion/checkpoint-removal.ts'
import { createPool, withTransaction, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, serveApi, useOwnStack, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { nodeEnv } from '../support/node-env.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { post } from '../support/post.ts'

const stack = await useOwnStack()
const run = promisify(execFile)
const defaults = {
  requests_per_minute: 60_000,
  tokens_per_minute: null,
  concurrent_streams: 2_048,
  event_streams: 2_048,
  queued_jobs: 20_000,
  stored_bytes: 1024 ** 4,
  gpu_seconds_per_day: null,
  paused: false,
  paused_by_administrator: false,
  payload_days: null,
  run_days: null,
  weight: 1,
  token_statistics: 'sampled',
  trace_project: 'off',
}
let entity: string

beforeEach(() => {
  entity = `team-${randomUUID()}`
})

describe('requests and chats, on two processes', () => {
  const database = useTestDatabase()
  let servers: ServedApi[]
  let key: string

  beforeAll(async () => {
    const env = { TRAINYARD_HOLD_SECONDS: '3' }
    servers = await Promise.all([1, 2].map(() => serveApi(stack, database.databaseUrl, env)))
    // A base model without engines: a chat waits some seconds for an engine.
    await database.pool.query(
      "INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('none', '{none}', 'trainyard', 'none')",
    )
  })
  beforeEach(async () => {
    key = await addKey(database.pool, entity)
  })
  afterAll(() => Promise.all((servers ?? []).map((server) => server.remove())))

  const ask = (path: string, { server = servers[0]!, bearer = key } = {}) =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${bearer}` } })

  const chat = (signal?: AbortSignal) =>
    post(
      `${servers[0]!.url}/v1/chat/completions`,
      key,
      { model: 'none', messages: [{ role: 'user', content: 'hi' }] },
      { signal },
    )

  test('requests per minute are limited over both processes', async () => {
    await setLimits(database.pool, entity, { requestsPerMinute: 7 })
    const racing = Array.from({ length: 20 }, (_, index) => ask('/v1/models', { server: servers[index % 2]! }))
    const answers = await Promise.all(racing)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(13)
    for (const answer of refused) {
      const seconds = Number(answer.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(50)
      expect(seconds).toBeLessThanOrEqual(60)
      expect(((await answer.json()) as { detail: string }).detail).toContain(
        `${entity} has reached its limit requests_per_minute (7)`,
      )
    }
  })

  test('at the limit every process rejects requests, but not those of other entities or without a key', async () => {
    await setLimits(database.pool, entity, { requestsPerMinute: 1 })
    expect((await ask('/v1/models')).status).toBe(200)
    for (const server of servers) expect((await ask('/v1/models', { server })).status).toBe(429)
    for (const path of ['/v1/health', '/openapi.json']) expect((await ask(path)).status).toBe(200)
    const other = await addKey(database.pool, `other-${entity}`)
    expect((await ask('/v1/models', { bearer: other })).status).toBe(200)
    const sibling = await addKey(database.pool, entity)
    expect((await ask('/v1/models', { bearer: sibling })).status).toBe(429)
  })

  test('a limit that is raised or removed takes effect at once', async () => {
    await setLimits(database.pool, entity, { requestsPerMinute: 1 })
    await ask('/v1/models')
    expect((await ask('/v1/models')).status).toBe(429)
    await setLimits(database.pool, entity, { requestsPerMinute: 100 })
    expect((await ask('/v1/models')).status).toBe(200)
    await setLimits(database.pool, entity, { requestsPerMinute: null })
    for (let times = 0; times < 3; times++) expect((await ask('/v1/models')).status).toBe(200)
  })

  test('concurrent chats of an entity are limited, and a chat whose client leaves no longer counts', async () => {
    await setLimits(database.pool, entity, { concurrentStreams: 2 })
    const leaving = [new AbortController(), new AbortController()]
    // The third chat is rejected at first. These two retry until they have permits.
    const hold = async (signal: AbortSignal) => {
      while ((await chat(signal)).status === 429);
    }
    const waiting = leaving.map(({ signal }) => hold(signal).catch(() => undefined))
    await eventually(async () => {
      const third = await chat(AbortSignal.timeout(1_000))
      expect(third.status).toBe(429)
      expect(third.headers.get('retry-after')).toBe('1')
    })
    for (const each of leaving) each.abort()
    await Promise.all(waiting)
    // A chat with a permit waits for an engine and then gets 503. The server hears of the end of a connection a moment later.
    await eventually(async () => expect((await chat()).status).toBe(503))
  })

  test('requests are counted in portions of a large limit', async () => {
    await setLimits(database.pool, entity, { requestsPerMinute: 60_000 })
    for (let times = 0; times < 20; times++) expect((await ask('/v1/models')).status).toBe(200)
    const counted = await database.pool.query<{ points: number }>(
      "SELECT points FROM auth.request_counts WHERE key = 'minute:' || $1",
      [entity],
    )
    expect(counted.rows).toEqual([{ points: 300 }])
  })

  test('a limit of several portions is used up to its last request', async () => {
    await setLimits(database.pool, entity, { requestsPerMinute: 501 })
    const statuses: number[] = []
    for (let times = 0; times < 30; times++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/v1/models')))
      statuses.push(...answers.map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(501)
  })

  test('event streams and waits have a limit, which the error names; lists of events have none', async () => {
    const api = createRest({ ...stack, url: servers[0]!.url }, key)
    await database.pool.query(
      "INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('none', '{none}', 'trainyard', 'none') ON CONFLICT DO NOTHING",
    )
    const { id: modelId } = await api.call<{ id: string }>('POST', '/v1/preview/models', {
      base_model: 'none',
      project: 'tests',
      entity,
      name: 'followed',
    })
    const job = { model_id: modelId, trajectory_groups: [] }
    const { id } = await api.call<{ id: string }>('POST', '/v1/preview/training-jobs', job)
    await setLimits(database.pool, entity, { eventStreams: 1 })
    const path = `/v1/preview/training-jobs/${id}/events`
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
    const stream = await fetch(servers[0]!.url + path, { headers, signal: leaving.signal })
    expect(stream.status).toBe(200)
    const refused = await ask(`${path}?wait=5`)
    expect([refused.status, await refused.json()]).toEqual([
      429,
      {
        detail: `${entity} has 1 open event streams, and its limit event_streams is 1. Send this request again when one has ended, or ask for a higher limit.`,
      },
    ])
    expect((await ask(path)).status).toBe(200)
    leaving.abort()
    await eventually(async () => expect((await ask(`${path}?wait=1`)).status).toBe(200))
  })

  test('the command shows the effective limits, and an entity can read them too', async () => {
    // As an administrator does it in the image.
    const env = { ...nodeEnv, DATABASE_URL: database.databaseUrl }
    const runLimits = (...args: string[]) =>
      run(process.execPath, ['apiserver/accounts/admin/main.ts', 'limits', entity, ...args], { env })
    const first = await runLimits(
      '--queued-jobs',
      '3',
      '--payload-days',
      '14',
      '--run-days',
      '30',
      '--token-statistics',
      'all',
      '--weight',
      '2.5',
    )
    const second = await runLimits(
      '--stored-bytes',
      '9007199254740991',
      '--queued-jobs',
      'default',
      '--requests-per-minute',
      'none',
    )
    expect(first.stdout).toMatch(/^queued-jobs +3$/m)
    const shown = second.stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
    expect(shown.slice(1, -1)).toEqual([
      'requests-per-minute none',
      'tokens-per-minute none (default)',
      'concurrent-streams 2048 (default)',
      'event-streams 2048 (default)',
      'queued-jobs 20000 (default)',
      'stored-bytes 9007199254740991',
      'gpu-seconds-per-day none (default)',
      'payload-days 14',
      'run-days 30',
      'weight 2.5',
      'token-statistics all',
      'trace-project off (default)',
    ])
    const reader = createRest({ ...stack, url: servers[0]!.url }, await addKey(database.pool, entity, 'read'))
    expect(await reader.call('GET', '/v1/preview/limits')).toEqual({
      ...defaults,
      entity,
      requests_per_minute: null,
      stored_bytes: Number.MAX_SAFE_INTEGER,
      payload_days: 14,
      run_days: 30,
      weight: 2.5,
      token_statistics: 'all',
      in_use: { queued_jobs: 0, stored_bytes: 0, gpu_seconds_today: 0 },
    })
  })
})

describe('jobs and bytes', () => {
  let pool: Pool
  let api: Rest
  let key: string
  let modelId: string

  beforeAll(() => {
    pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  })
  beforeEach(async () => {
    key = await addKey(pool, entity)
    api = createRest(stack, key)
    modelId = (await api.createModel()).id
  })
  afterAll(() => pool.end())

  const postJob = () => api.send('POST', '/v1/preview/training-jobs', { model_id: modelId, trajectory_groups: [] })
  const readInUse = async () =>
    (await api.call<{ in_use: { queued_jobs: number; stored_bytes: number } }>('GET', '/v1/preview/limits')).in_use

  test('of many concurrent jobs as many are accepted as the limit allows, and an ended job no longer counts', async () => {
    await setLimits(pool, entity, { queuedJobs: 3 })
    const answers = await Promise.all(Array.from({ length: 12 }, postJob))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(9)
    expect(refused[0]!.headers.get('retry-after')).toBe('15')
    expect(await refused[0]!.json()).toEqual({
      detail: `${entity} has reached its limit queued_jobs (3 unfinished training jobs). Send this job again when another one has ended.`,
    })
    expect((await readInUse()).queued_jobs).toBe(3)
    const { rows } = await pool.query('SELECT FROM training.jobs WHERE model_id = $1', [modelId])
    expect(rows).toHaveLength(3)
    const jobs = await api.listAll<{ id: string }>(`/v1/preview/training-jobs`)
    await api.call('POST', `/v1/preview/training-jobs/${jobs[0]!.id}/cancel`)
    expect((await postJob()).status).toBe(200)
  })

  test('far from the limit, a job waits for no other one of its entity', async () => {
    await withTransaction(pool, async (connection) => {
      await connection.query("SELECT pg_advisory_xact_lock(hashtextextended('queued jobs of ' || $1, 0))", [entity])
      expect((await postJob()).status).toBe(200)
    })
  })

  const group = (text: string) => ({
    trajectories: [
      { messages_and_choices: [{ role: 'user', content: text }], reward: 1 },
      { messages_and_choices: [{ role: 'user', content: text }], reward: 0 },
    ],
  })
  const bodyOf = (size: number) => JSON.stringify({ model_id: modelId, trajectory_groups: [group('x'.repeat(size))] })
  const sendBody = (path: string, body: string | ReadableStream, more: object = {}) =>
    fetch(stack.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      ...more,
    })

  test('a repeated request with its Idempotency-Key gets its answer even at the limit', async () => {
    const body = bodyOf(1_000)
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    const first = await sendBody('/v1/preview/training-jobs', body, { headers })
    await setLimits(pool, entity, { storedBytes: body.length + 100 })
    const again = await sendBody('/v1/preview/training-jobs', body, { headers })
    expect([again.status, await again.json()]).toEqual([200, await first.json()])
  })

  test('payloads count with their size, equal payloads once, and are rejected beyond the limit', async () => {
    const body = bodyOf(1_000)
    for (let times = 0; times < 2; times++) {
      expect((await sendBody('/v1/preview/training-jobs', body)).status).toBe(200)
    }
    // Each job has a config too.
    const stored = (await readInUse()).stored_bytes
    expect(stored - body.length).toBeLessThan(100)
    await setLimits(pool, entity, { storedBytes: stored + 1_500 })
    const refused = await sendBody('/v1/preview/training-jobs', bodyOf(3_000))
    expect(refused.status).toBe(403)
    expect(((await refused.json()) as { detail: string }).detail).toContain(`${entity} stores ${stored} bytes`)
    const unannounced = new Blob([bodyOf(3_000)]).stream()
    expect((await sendBody('/v1/preview/training-jobs', unannounced, { duplex: 'half' })).status).toBe(403)
    const log = `/v1/preview/models/${modelId}/log`
    const logged = (size: number) => JSON.stringify({ split: 'val', trajectory_groups: [group('y'.repeat(size))] })
    expect((await sendBody(log, logged(3_000))).status).toBe(403)
    expect((await sendBody(log, logged(100))).status).toBe(200)
    expect((await readInUse()).stored_bytes).toBe(stored + logged(100).length)
  })

  test('data sets and checkpoints count too', async () => {
    const upload = (data: string) =>
      fetch(`${stack.url}/v1/preview/artifacts/${entity}/tests/${randomUUID()}?check=none`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/jsonl' },
        body: data,
      })
    const data = `${JSON.stringify({ messages: [{ role: 'user', content: randomUUID() }] })}\n`
    expect((await upload(data)).ok).toBe(true)
    await pool.query(
      `INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics, bytes)
       VALUES (gen_random_uuid(), $1, 1, 'artifact:///checkpoints/x', 'ab', '{}', 1000)`,
      [modelId],
    )
    // The list of its files, and its row.
    const version = (await readInUse()).stored_bytes - data.length - 1_000
    expect(version).toBeGreaterThan(512)
    expect(version).toBeLessThan(1_000)
    await setLimits(pool, entity, { storedBytes: data.length + version + 1_050 })
    expect((await upload(data.repeat(2))).status).toBe(403)
    const digest = createHash('sha256').update(data.repeat(2)).digest('hex')
    const blob = await fetch(`${stack.url}/v1/preview/artifacts/${entity}/tests/blobs/blobs/${digest}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
      body: data.repeat(2),
    })
    expect(blob.status).toBe(403)
    const { rows: checkpoints } = await pool.query<{ id: string }>(
      'UPDATE training.checkpoints SET deleted_at = now() WHERE model_id = $1 RETURNING id',
      [modelId],
    )
    // The limit is free again when the operator has removed the files.
    await markCheckpointsRemoved(
      pool,
      checkpoints.map(({ id }) => id),
    )
    expect((await readInUse()).stored_bytes).toBe(data.length + version)
    expect((await upload(data.repeat(2))).ok).toBe(true)
  })
})
