import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordSource } from '../../db/base-models/sources.ts'
import { findUntrainedLayers } from '../../db/base-models/untrained-layers.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { useStack } from '../support/stack.ts'
import { startStatusServer, type RunningStatusServer } from '../support/status-server.ts'
import { TrainingRows } from '../support/training-rows.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { postJson } from '../support/post.ts'

const stack = useStack()
// Node keeps idle connections open for this time. A server that waited for them would take as long to stop.
const keepAliveMs = 5_000
const database = useTestDatabase()
let server: RunningStatusServer
let rows: TrainingRows
let token: string
let podUid: string

beforeAll(async () => {
  server = await startStatusServer(stack, database.databaseUrl)
  await makePod('trainer-0', 'trainyard-trainer')
  token = await makeToken('trainyard-trainer', 'trainyard-status', 'trainer-0')
  podUid = await stack.kubectl('get', 'pod', 'trainer-0', `-n${server.namespace}`, '-o', 'jsonpath={.metadata.uid}')
})
beforeEach(() => {
  rows = new TrainingRows(database.pool)
})
afterAll(() => server?.remove())

/** A pod that is never scheduled. Tokens are bound to it. */
function makePod(name: string, serviceAccountName: string) {
  const containers = [{ name: 'trainer', image: 'none' }]
  const metadata = { name, namespace: server.namespace }
  return stack.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { serviceAccountName, containers, schedulerName: 'nobody' },
  })
}

async function makeToken(account: string, audience?: string, pod?: string): Promise<string> {
  const options = [`-n${server.namespace}`]
  if (audience) options.push('--audience', audience)
  if (pod) options.push('--bound-object-kind', 'Pod', '--bound-object-name', pod)
  return (await stack.kubectl('create', 'token', account, ...options)).trim()
}

const send = (path: string, body: unknown, init: { token?: string; signal?: AbortSignal } = {}) =>
  postJson(server.url + path, init.token ?? token, body, init)

function claim(waitSeconds: number, processId: string = randomUUID(), signal?: AbortSignal) {
  const body = { base_model: rows.baseModel, process_id: processId, wait_seconds: waitSeconds, gpus: 0, holding: [] }
  return send('/v1/claims', body, signal ? { signal } : {})
}

/** Starts a claim, and returns when the server has received it: the claim then waits for a lock on its pod. */
async function startClaim(waitSeconds: number, signal?: AbortSignal): Promise<{ claimed: ReturnType<typeof claim> }> {
  const connection = await database.pool.connect()
  let claimed
  try {
    await connection.query('BEGIN')
    await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [podUid])
    claimed = claim(waitSeconds, randomUUID(), signal)
    await eventually(async () => expect(await countBackends(`wait_event = 'advisory'`)).toBe(1))
  } finally {
    await connection.query('ROLLBACK')
    connection.release()
  }
  // Its query has ended, so that it gets a job only when it is woken.
  await eventually(async () => expect(await countBackends(`state <> 'idle'`)).toBe(0))
  return { claimed }
}

async function countBackends(condition: string): Promise<number> {
  const { rows: found } = await database.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
  )
  return found.length
}

async function finish(jobId: string, attempt: number, checkpointId: unknown) {
  const checkpoint = { uri: `artifact:///checkpoints/${String(checkpointId)}`, digest: 'ab'.repeat(32), metrics: {} }
  return send(`/v1/jobs/${jobId}/attempts/${attempt}/checkpoint`, checkpoint)
}

test('a trainer claims a job, reports on it, and reports its checkpoint', async () => {
  const job = await rows.addJob(await rows.addModel())
  const claimed = await claim(0)
  expect(claimed).toEqual({
    status: 200,
    body: {
      id: job,
      attempt: 1,
      entity: 'team',
      model_id: expect.any(String),
      model_name: expect.stringMatching(/^team\/[^/]+\/[^/]+$/),
      base_model: rows.baseModel,
      method: 'RL',
      input: { uri: 'artifact:///payloads/team/0a.json', digest: '0a' },
      config: { learning_rate: 0.001 },
      step: 1,
      checkpoint_id: expect.any(String),
      from_checkpoint: null,
      resume: null,
      reference: null,
      token_statistics: 'sampled',
      lease_seconds: 15,
    },
  })
  const path = `/v1/jobs/${job}/attempts/1`
  const events = [{ seq: 0, type: 'training_started', data: { num_sequences: 1 } }]
  expect(await send(`${path}/events`, { events })).toEqual({ status: 200, body: {} })
  expect(await send(`${path}/heartbeat`, {})).toEqual({ status: 200, body: {} })
  expect((await finish(job, 1, claimed.body?.checkpoint_id)).status).toBe(200)
  expect(await rows.readJob(job)).toMatchObject({ state: 'Publishing', progress_total: 1 })
  expect((await send(`/v1/jobs/${job}/attempts/2/heartbeat`, {})).body).toEqual({
    detail: 'this attempt no longer holds the job: stop, and drop its work',
  })
})

test('the token of a pod that is gone is rejected', async () => {
  await makePod('short-lived', 'trainyard-trainer')
  const old = await makeToken('trainyard-trainer', 'trainyard-status', 'short-lived')
  await stack.kubectl('delete', 'pod', 'short-lived', `-n${server.namespace}`, '--force')
  const body = { base_model: rows.baseModel, process_id: randomUUID(), wait_seconds: 0, gpus: 0, holding: [] }
  expect(await send('/v1/claims', body, { token: old })).toEqual({
    status: 401,
    body: { detail: 'the token is rejected: its pod is gone' },
  })
})

test('a failure is recorded, and its message is truncated to the limit of a status', async () => {
  const job = await rows.addJob(await rows.addModel())
  await claim(0)
  const failure = { category: 'User', reason: 'InvalidInput', message: 'x\0'.repeat(5_000), retryable: false }
  expect((await send(`/v1/jobs/${job}/attempts/1/failure`, failure)).status).toBe(200)
  const { state, failure: stored } = await rows.readJob(job)
  expect({ state, length: stored?.message.length }).toEqual({ state: 'Failed', length: 2_000 })
})

test('a waiting trainer gets a job within milliseconds after it is queued', async () => {
  // The server also polls once a second. A poll cannot explain so many fast wake-ups. On a loaded machine, two may be
  // late.
  const waitsMs: number[] = []
  for (let times = 0; times < 12; times++) {
    const { claimed } = await startClaim(20)
    const model = await rows.addModel()
    const job = await rows.addJob(model, { state: 'Pending' })
    const before = performance.now()
    await queueJob(rows.pool, job)
    const { body } = await claimed
    expect(body?.id).toBe(job)
    waitsMs.push(performance.now() - before)
    await finish(job, 1, body?.checkpoint_id)
  }
  expect(waitsMs.filter((wait) => wait > 500).length).toBeLessThanOrEqual(2)
})

test('without a job the wait ends with 204, and no job is assigned to a client that has left', async () => {
  expect((await claim(0.2)).status).toBe(204)
  const leaves = new AbortController()
  const { claimed } = await startClaim(20, leaves.signal)
  leaves.abort()
  await expect(claimed).rejects.toThrow('aborted')
  // The server reads requests in order. When it has answered this one, it knows about the disconnect.
  expect((await claim(0)).status).toBe(204)
  const job = await rows.addJob(await rows.addModel())
  expect((await claim(5)).body).toMatchObject({ id: job, attempt: 1 })
})

test('the job of a silent trainer returns to the queue', async () => {
  const job = await rows.addJob(await rows.addModel())
  await claim(0)
  await rows.expireLease(job)
  expect((await claim(10)).body).toMatchObject({ id: job, attempt: 2 })
  expect((await send(`/v1/jobs/${job}/attempts/1/heartbeat`, {})).status).toBe(409)
})

test('a pod tells how far its download is, in one row', async () => {
  for (const done of [1, 5]) {
    const { status } = await send('/v1/download-progress', { done_bytes: done, total_bytes: 9 })
    expect(status).toBe(200)
  }
  const { rows: found } = await database.pool.query(
    'SELECT done_bytes AS done, total_bytes AS total FROM training.model_downloads WHERE pod_uid = $1',
    [podUid],
  )
  expect(found).toEqual([{ done: 5, total: 9 }])
  expect((await send('/v1/download-progress', { done_bytes: -1, total_bytes: 9 })).status).toBe(422)
  const stranger = await makeToken('somebody', 'trainyard-status')
  const refused = await send('/v1/download-progress', { done_bytes: 1, total_bytes: 9 }, { token: stranger })
  expect(refused.status).toBe(401)
})

test('a trainer tells which layers it does not train, until the base model is another', async () => {
  const { pool } = database
  const report = { base_model: rows.baseModel, layers: ['gate'], share: 0.25 }
  const known = { name: rows.baseModel, trainedOn: { source: { path: 'a' }, lora: {} }, replaces: true }
  await recordSource(pool, known)
  expect((await send('/v1/untrained-layers', report)).status).toBe(200)
  await recordSource(pool, known)
  expect(await findUntrainedLayers(pool, rows.baseModel)).toEqual({ layers: ['gate'], share: 0.25 })
  await recordSource(pool, { ...known, trainedOn: { source: { path: 'b' }, lora: {} } })
  expect(await findUntrainedLayers(pool, rows.baseModel)).toBeUndefined()
  expect((await send('/v1/untrained-layers', { ...report, layers: Array(201).fill('a') })).status).toBe(422)
})

test('a trainer tells where the adapter is that training starts from', async () => {
  const { pool } = database
  const read = async () =>
    (
      await pool.query<{ adapter: object | null }>(
        'SELECT untrained_adapter AS adapter FROM training.base_model_sources WHERE name = $1',
        [rows.baseModel],
      )
    ).rows[0]?.adapter
  await recordSource(pool, { name: rows.baseModel, trainedOn: { source: { path: 'c' }, lora: {} }, replaces: true })
  const id = randomUUID()
  const file = { path: 'adapter_config.json', size: 3, md5: 'ab'.repeat(16) }
  const report = { base_model: rows.baseModel, uri: `artifact:///checkpoints/${id}`, files: [file] }
  for (const wrong of [
    { ...report, uri: 'artifact:///checkpoints/../a' },
    { ...report, files: [] },
    { ...report, files: [{ ...file, path: '../a' }] },
  ])
    expect((await send('/v1/untrained-adapter', wrong)).status).toBe(422)
  expect(await read()).toBeNull()
  expect((await send('/v1/untrained-adapter', report)).status).toBe(200)
  expect(await read()).toEqual({
    uri: report.uri,
    files: [{ ...file, key: `checkpoints/${id}/adapter_config.json` }],
  })
})

describe('a caller that is not a trainer pod is rejected with 401', () => {
  test.each<[string, () => Promise<string>]>([
    ['a trainer pod, for another audience', () => makeToken('trainyard-trainer', undefined, 'trainer-0')],
    ['a trainer account without a pod', () => makeToken('trainyard-trainer', 'trainyard-status')],
    ['another account', () => makeToken('somebody', 'trainyard-status')],
    ['nobody', async () => 'x'],
  ])('%s', async (_name, make) => {
    const refused = await send('/v1/claims', '{', { token: await make() })
    expect(refused).toEqual({ status: 401, body: { detail: expect.any(String) } })
  })

  test('a trainer of another namespace', async () => {
    const namespace = `${server.namespace}-other`
    await createNamespace(stack, namespace)
    try {
      await stack.apply({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'trainyard-trainer', namespace },
      })
      const options = [`-n${namespace}`, '--audience', 'trainyard-status']
      const other = await stack.kubectl('create', 'token', 'trainyard-trainer', ...options)
      expect((await send('/v1/claims', {}, { token: other.trim() })).status).toBe(401)
    } finally {
      await removeNamespace(stack, namespace)
    }
  })
})

test('for any invalid request of a pod, the answer is a 4xx with a message', async () => {
  const job = await rows.addJob(await rows.addModel())
  await claim(0)
  const attempt = `/v1/jobs/${job}/attempts/1`
  const step = { seq: 1, type: 'gradient_step', data: {} }
  const paths = ['/v1/claims', ...['events', 'checkpoint', 'failure'].map((name) => `${attempt}/${name}`)]
  const bodies = ['', '{', '[]', 'null', '"x"', '{"a":1e999}', '['.repeat(100_000), '{"base_model":"\\u0000"}', '\0']
  const sent: [string, unknown, number][] = [
    ...paths.flatMap((path) => bodies.map((body): [string, unknown, number] => [path, body, 422])),
    [`${attempt}/events`, { events: [{ ...step, data: { loss: '\ud800' } }] }, 422],
    [`${attempt}/events`, `{"events":[{"seq":1,"type":"gradient_step","data":{"loss":1e999}}]}`, 422],
    [`${attempt}/events`, { events: Array.from({ length: 10_001 }, () => step) }, 422],
    [`${attempt}/events`, ' '.repeat(1024 * 1024 + 1), 413],
    [`${attempt}/heartbeat`, '{', 422],
    ['/v1/claims/x', {}, 404],
    ['/v1/jobs/x/attempts/1/heartbeat', {}, 404],
    ['/v1/jobs/x/attempts/1/events', '{', 404],
    [`/v1/jobs/${job}/attempts/-1/heartbeat`, {}, 404],
    [`/v1/jobs/${job}/attempts/99999999999999999999/heartbeat`, {}, 404],
    [`/v1/jobs/%zz/attempts/1/heartbeat`, {}, 404],
    [`/v1/jobs/${randomUUID()}/attempts/1/heartbeat`, {}, 409],
    [`/v1/jobs/${job}/attempts/999999999/heartbeat`, {}, 409],
  ]
  for (const [path, body, status] of sent) {
    const answer = await send(path, body)
    const request = `${path} ${String(body).slice(0, 60)}`
    expect({ request, ...answer }).toEqual({ request, status, body: { detail: expect.any(String) } })
  }
  expect(await rows.readJob(job)).toMatchObject({ state: 'Starting', attempt: 1 })
})

test('while kube-apiserver is unavailable, trainers can still authenticate', async () => {
  server.kube.cut()
  try {
    expect((await claim(0)).status).toBe(204)
  } finally {
    server.kube.mend()
  }
})

test('while Postgres is unavailable the answer is 503, and afterwards jobs are assigned as before', async () => {
  const model = await rows.addModel()
  server.postgres.cut()
  try {
    expect(await claim(0)).toEqual({ status: 503, body: { detail: expect.stringContaining('database') } })
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  } finally {
    server.postgres.mend()
  }
  await eventually(async () => expect((await claim(0)).status).toBe(204))
  const waiting = claim(20)
  const job = await rows.addJob(model)
  expect((await waiting).body?.id).toBe(job)
})

test('an outage of Postgres that is longer than a lease costs a running job no attempt', async () => {
  const job = await rows.addJob(await rows.addModel())
  await claim(0)
  const path = `/v1/jobs/${job}/attempts/1`
  const events = [{ seq: 0, type: 'training_started', data: { num_sequences: 1 } }]
  expect((await send(`${path}/events`, { events })).status).toBe(200)
  server.postgres.cut()
  // So long that the server's time without a break is over.
  await delay(6_000)
  await rows.expireLease(job)
  server.postgres.mend()
  const readAge = async () => {
    const { rows: found } = await database.pool.query<{ seconds: number }>(
      'SELECT extract(epoch FROM clock_timestamp() - up_since)::float8 AS seconds FROM training.report_service',
    )
    return found[0]?.seconds
  }
  await eventually(async () => expect(await readAge()).toBeLessThan(5))
  await eventually(async () => expect(await readAge()).toBeGreaterThan(3))
  expect(await rows.readJob(job)).toMatchObject({ state: 'Running', attempt: 1, failure: null })
  expect((await send(`${path}/heartbeat`, {})).status).toBe(200)
})

test('at shutdown all waits are answered, and the process exits with 0 at once', async () => {
  const { claimed } = await startClaim(20)
  const before = performance.now()
  const code = await server.stop()
  expect((await claimed).status).toBe(204)
  expect({ code, quick: performance.now() - before < keepAliveMs }).toEqual({ code: 0, quick: true })
})
