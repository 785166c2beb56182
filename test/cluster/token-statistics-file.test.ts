import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { useModelRows } from '../support/use-model-rows.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken, startStatusServer, type RunningStatusServer } from '../support/status-server.ts'
import { TrainingRows } from '../support/training-rows.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const digest = 'ab'.repeat(32)

describe('the status server', () => {
  let server: RunningStatusServer
  let token: string
  let drop: () => Promise<void>
  let rows: TrainingRows
  let path: string
  let checkpoint: string

  beforeAll(async () => {
    const database = await createTestDatabase()
    drop = () => database.drop()
    rows = new TrainingRows(database.pool)
    server = await startStatusServer(stack, database.databaseUrl)
    token = await makeTrainerToken(stack, server.namespace)
    const model = await rows.addModel()
    const job = await rows.addJob(model)
    await rows.addTrajectories(model, job, [1])
    const trainer = { process_id: randomUUID(), gpus: 0, holding: [] }
    const claimed = await report('/v1/claims', { base_model: rows.baseModel, ...trainer, wait_seconds: 0 })
    const claim = (await claimed.json()) as { checkpoint_id: string; token_statistics: string }
    expect(claim.token_statistics).toBe('sampled')
    checkpoint = claim.checkpoint_id
    path = `/v1/jobs/${job}/attempts/1/token-statistics`
    const uri = `artifact:///checkpoints/${checkpoint}`
    expect((await report(`/v1/jobs/${job}/attempts/1/checkpoint`, { uri, digest, metrics: {} })).status).toBe(200)
  })
  afterAll(async () => {
    await server?.remove()
    await drop?.()
  })

  const report = (to: string, body: unknown) => post(server.url + to, token, body)
  const none = { uri: null, digest: null, bytes: null }

  test.each<[string, object, number]>([
    ['half a file', { ...none, digest, pushes: {} }, 422],
    ['a file in another place', { uri: 'artifact:///payloads/x.parquet', digest, bytes: 1, pushes: {} }, 422],
    ['missing pushes', none, 422],
    ['an invalid push', { ...none, pushes: { '0/0': null } }, 422],
    ['a push without a trajectory', { ...none, pushes: { 'a/b': 1 } }, 422],
    ['more pushes than a job may have trajectories', { ...none, pushes: pushesOf(100_001) }, 422],
    [
      'another file',
      { uri: `artifact:///token-statistics/${randomUUID()}.parquet`, digest, bytes: 1, pushes: {} },
      409,
    ],
  ])('rejects %s', async (_name, body, status) => {
    expect((await report(path, body)).status).toBe(status)
  })

  test('rejects numbers that overflow, and bodies that are too large', async () => {
    expect((await report(path, '{"uri":null,"digest":null,"bytes":null,"pushes":{"0/0":1e999}}')).status).toBe(422)
    expect((await report(path, ' '.repeat(9 * 1024 * 1024))).status).toBe(413)
    expect((await report(path.replace('token-statistics', 'heartbeat'), ' '.repeat(2 * 1024 * 1024))).status).toBe(413)
  })

  test('accepts the pushes of a hundred thousand trajectories, repeatedly', async () => {
    const uri = `artifact:///token-statistics/${checkpoint}.parquet`
    const body = { uri, digest, bytes: 123, pushes: pushesOf(100_000) }
    expect(JSON.stringify(body).length).toBeGreaterThan(2 * 1024 * 1024)
    for (let times = 0; times < 2; times++) {
      const response = await report(path, body)
      expect([response.status, await response.json()]).toEqual([200, {}])
    }
    const { rows: found } = await rows.pool.query(
      `SELECT statistics_digest AS digest, statistics_bytes AS bytes, push FROM training.checkpoints c
       JOIN training.trajectories t ON t.job_id = c.job_id WHERE c.id = $1`,
      [checkpoint],
    )
    expect(found).toEqual([{ digest, bytes: 123, push: 1.23456789e-5 }])
  })

  function pushesOf(count: number): Record<string, number> {
    return Object.fromEntries(Array.from({ length: count }, (_, group) => [`${group}/0`, 1.23456789e-5]))
  }
})

describe('the file', () => {
  const rest = createRest(stack)
  const rows = useModelRows(stack)
  const { pool } = rows

  async function makeCheckpoint() {
    const model = await rest.createModel()
    const checkpoint = await rows.addCheckpoint(model.id, 1)
    const file = await rows.addStatistics(checkpoint, 'PAR1 and so on')
    return { model, checkpoint, file, path: `/v1/preview/models/${model.id}/checkpoints/1` }
  }

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(stack.url + path, { method, headers: { authorization: `Bearer ${stack.apiKey}`, ...headers } })

  test('is listed with its checkpoint and downloaded, whole or in part', async () => {
    const { path } = await makeCheckpoint()
    const { token_statistics: reported } = await rest.call<{ token_statistics: { digest: string } }>('GET', path)
    expect(reported).toEqual({ size: 14, digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const whole = await get(`${path}/token-statistics`)
    expect([whole.status, whole.headers.get('content-type'), whole.headers.get('etag'), await whole.text()]).toEqual([
      200,
      'application/vnd.apache.parquet',
      `"${reported.digest}"`,
      'PAR1 and so on',
    ])
    expect(whole.headers.get('content-disposition')).toContain('token-statistics-step1.parquet')
    const part = await get(`${path}/token-statistics`, { range: 'bytes=-5' })
    expect([part.status, await part.text()]).toEqual([206, 'so on'])
    expect((await get(`${path}/token-statistics`, { range: 'bytes=99-' })).status).toBe(416)
    const head = await get(`${path}/token-statistics`, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '14'])
  })

  test('of a checkpoint without one, of a deleted checkpoint, and of another entity is not found', async () => {
    const { checkpoint, path } = await makeCheckpoint()
    const stranger = await fetch(`${stack.url}${path}/token-statistics`)
    expect(stranger.status).toBe(401)
    expect((await get(`${path.replace(/1$/, '2')}/token-statistics`)).status).toBe(404)
    await pool.query('UPDATE training.checkpoints SET statistics_digest = NULL WHERE id = $1', [checkpoint])
    expect((await get(`${path}/token-statistics`)).status).toBe(404)
    expect(await rest.call('GET', path)).toMatchObject({ token_statistics: null })
  })

  test('is read for one trajectory, by its entity only', async () => {
    const model = await rest.createModel()
    const job = await rows.addJob(model.id, 'Succeeded')
    const training = new TrainingRows(pool)
    await training.addTrajectories(model.id, job, [2, 1])
    const fixture = new URL('../../apiserver/training/trajectories/tokens/token-statistics.parquet', import.meta.url)
    await rows.addStatistics(await rows.addCheckpoint(model.id, 1, { jobId: job }), readFileSync(fixture))
    const list = `/v1/preview/models/${model.id}/trajectories`
    const { data } = await rest.call<{ data: { id: string }[] }>('GET', list)
    const [, second, dropped] = data.map(({ id }) => `${list}/${id}/tokens`)
    expect(await rest.call('GET', second!)).toMatchObject({
      job_id: job,
      total: 6,
      from: 0,
      has_more: false,
      missing: null,
      columns: { token_id: [200, 201, 202, 203, 400, 401], history_index: [0, 0, 0, 0, 1, 1] },
    })
    const page = await rest.call('GET', `${second}?from=3&limit=2`)
    expect(page).toMatchObject({ total: 6, from: 3, has_more: true, columns: { token_id: [203, 400] } })
    expect(await rest.call('GET', dropped!)).toMatchObject({ columns: { dropped: [true, true, true] } })
    expect((await get(`${second}?limit=50001`)).status).toBe(422)
    const other = await addKey(pool, `team-${randomUUID()}`, 'admin')
    expect((await get(second!, { authorization: `Bearer ${other}` })).status).toBe(404)

    await pool.query('UPDATE training.checkpoints SET statistics_digest = NULL WHERE job_id = $1', [job])
    expect(await rest.call('GET', second!)).toMatchObject({ total: 0, missing: { reason: 'not_kept' } })
  })

  test('is removed with its checkpoint, and with its model', async () => {
    const [one, two] = [await makeCheckpoint(), await makeCheckpoint()]
    await rest.call('DELETE', `/v1/preview/models/${one.model.id}/checkpoints`, { steps: [1] })
    await eventually(() => expect(existsSync(one.file)).toBe(false))
    expect(existsSync(two.file)).toBe(true)
    await rest.call('DELETE', `/v1/preview/models/${two.model.id}`)
    await eventually(() => expect(existsSync(two.file)).toBe(false))
  })
})
