import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelRows } from '../support/use-model-rows.ts'
import { createRest } from '../support/rest.ts'
import { upsertRun } from '../support/wandb.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rows = useModelRows(stack)
const { pool } = rows

interface Erasure {
  id: string
  state: string
  report: Record<string, number>
}

/** Creates an entity with keys of two roles. */
async function makeEntity(entity = `erase-${randomUUID().slice(0, 8)}`) {
  const makeKey = async (role: string) => {
    const key = `ty-${randomBytes(24).toString('hex')}`
    const digest = createHash('sha256').update(key).digest()
    await pool.query('INSERT INTO auth.api_keys (entity, digest, role) VALUES ($1, $2, $3)', [entity, digest, role])
    return key
  }
  const adminKey = await makeKey('admin')
  const [admin, member] = [createRest(stack, adminKey), createRest(stack, await makeKey('member'))]
  return { entity, adminKey, admin, member }
}

async function fill(rest: ReturnType<typeof createRest>, project: string) {
  const body = { project, base_model: stack.baseModel }
  const model = await rest.call<{ id: string; name: string }>('POST', '/v1/preview/models', body)
  const checkpoint = await rows.addCheckpoint(model.id, 1)
  const job = await rows.addJob(model.id, 'Succeeded')
  await pool.query(`INSERT INTO training.events (job_id, seq, type, data) VALUES ($1, 0, 'training_started', '{}')`, [
    job,
  ])
  return { ...model, checkpoint, job }
}

/** Adds a run with two lines, as the wandb SDK does. Returns its id. */
async function addRun(key: string, project: string): Promise<string> {
  const id = await upsertRun({ url: stack.url, key }, { modelName: project, name: 'run' })
  await pool.query(
    `INSERT INTO training.run_lines (run, stream, line, step, text)
     SELECT number, 0, line, line, '{}' FROM training.runs, generate_series(0, 1) AS line WHERE id = $1`,
    [id],
  )
  await pool.query(`UPDATE training.runs SET created_at = created_at - interval '2 minutes' WHERE id = $1`, [id])
  return id
}

/** Ends the time for which the operator waits for late writes. */
const settle = (id: string) =>
  pool.query(`UPDATE training.erasures SET requested_at = requested_at - interval '1 minute' WHERE id = $1`, [id])

/** Adds files of requests that died before their rows were written. One of the files is kept. */
async function putLeftovers(entity: string): Promise<string[]> {
  const keys = ['payloads/E/a.json', 'artifacts/E/b', 'traces/E/99/calls/c', 'traces/E/99/files/d'].map((key) =>
    key.replace('E', entity),
  )
  const files = keys.map((key) => path.join(stack.artifacts, key))
  for (const file of files) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, 'left')
  }
  await pool.query('INSERT INTO training.garbage (prefix, bytes, unseen, kept_at) VALUES ($1, 4, true, now())', [
    keys[0],
  ])
  return files
}

const countRows = async (table: string, column: string, value: string) =>
  (await pool.query(`SELECT FROM ${table} WHERE ${column} = $1`, [value])).rowCount

test('a project is erased everywhere, and the report has the amounts', async () => {
  const { admin, adminKey, member, entity } = await makeEntity()
  const [gone, kept] = [await fill(admin, 'gone'), await fill(admin, 'kept')]
  const statistics = await rows.addStatistics(gone.checkpoint)
  const [goneRun, keptRun] = [await addRun(adminKey, 'gone'), await addRun(adminKey, 'kept')]
  const fork = await admin.call<{ id: string }>('POST', `/v1/preview/models/${gone.id}/fork`, { project: 'kept' })
  await pool.query(`UPDATE training.models SET created_at = created_at - interval '2 minutes' WHERE entity = $1`, [
    entity,
  ])
  expect((await member.send('DELETE', '/v1/preview/projects/gone')).status).toBe(403)

  const response = await admin.send('DELETE', '/v1/preview/projects/gone')
  const erasure = (await response.json()) as Erasure
  expect([response.status, erasure]).toMatchObject([202, { entity, project: 'gone', state: 'running', report: {} }])
  expect((await admin.send('GET', `/v1/preview/models/${gone.id}`)).status).toBe(404)
  await settle(erasure.id)

  const done = await eventually(async () => {
    const read = await admin.call<Erasure>('GET', `/v1/preview/erasures/${erasure.id}`)
    expect(read.state).toBe('done')
    return read
  })
  // Four small files of the checkpoint, and its token statistics. The outbox has the events of model and job.
  expect(done.report).toMatchObject({
    models: 1,
    checkpoints: 1,
    jobs: 1,
    events: 1,
    objects: 5,
    runs: 1,
    run_lines: 2,
  })
  expect(existsSync(statistics)).toBe(false)
  expect(done.report['bytes']).toBeGreaterThan(100)
  expect(existsSync(rows.folderOf(gone.checkpoint))).toBe(false)
  expect(await countRows('training.models', 'id', gone.id)).toBe(0)
  expect(await countRows('training.jobs', 'id', gone.job)).toBe(0)
  expect(await countRows('training.runs', 'id', goneRun)).toBe(0)
  expect(await countRows('training.runs', 'id', keptRun)).toBe(1)
  await eventually(async () =>
    expect(await stack.kubectl('get', 'models.trainyard.dev', '-l', `trainyard.dev/id=${gone.id}`)).toBe(''),
  )

  expect(await admin.call('GET', `/v1/preview/models/${kept.id}`)).toMatchObject({ latest_step: 1 })
  expect(await admin.call('GET', `/v1/preview/models/${fork.id}`)).toMatchObject({ latest_step: 1, forked_from: null })
  expect(existsSync(rows.folderOf(kept.checkpoint))).toBe(true)
  const list = await admin.call<{ data: Erasure[] }>('GET', '/v1/preview/erasures')
  expect(list.data).toEqual([done])
})

test('an entity is erased with its keys; the requesting key reads the report', async () => {
  const { admin, member, entity } = await makeEntity()
  const other = await makeEntity()
  const gone = await fill(admin, 'one')
  await fill(admin, 'two')
  const kept = await fill(other.admin, 'one')
  await pool.query(`UPDATE training.models SET created_at = created_at - interval '2 minutes' WHERE entity = $1`, [
    entity,
  ])
  await pool.query(`UPDATE auth.api_keys SET created_at = created_at - interval '2 minutes' WHERE entity = $1`, [
    entity,
  ])
  const leftovers = await putLeftovers(entity)
  const [others] = await putLeftovers(other.entity)
  expect((await other.admin.send('DELETE', `/v1/preview/entities/${entity}`)).status).toBe(404)
  const erasure = await admin.call<Erasure>('DELETE', `/v1/preview/entities/${entity}`)
  await eventually(async () => expect((await member.send('GET', '/v1/preview/models')).status).toBe(401))
  await settle(erasure.id)
  await eventually(async () => {
    const read = await admin.call<Erasure>('GET', `/v1/preview/erasures/${erasure.id}`)
    expect(read).toMatchObject({ state: 'done', report: { models: 2, checkpoints: 2, keys: 1, objects: 2 * 4 + 4 } })
  })
  expect(await countRows('training.models', 'entity', entity)).toBe(0)
  expect(await countRows('training.outbox', 'entity', entity)).toBe(0)
  expect(existsSync(rows.folderOf(gone.checkpoint))).toBe(false)
  expect([...leftovers, others!].map((file) => existsSync(file))).toEqual([false, false, false, false, true])
  expect(await countRows('training.garbage', `split_part(prefix, '/', 2)`, entity)).toBe(0)
  expect(await other.admin.call('GET', `/v1/preview/models/${kept.id}`)).toMatchObject({ latest_step: 1 })
  const { rows: keys } = await pool.query(
    'SELECT expires_at < now() + $2 AS soon FROM auth.api_keys WHERE entity = $1',
    [entity, '25 hours'],
  )
  expect(keys).toEqual([{ soon: true }])
})

test('an erasure of another entity is not found', async () => {
  const [one, other] = [await makeEntity(), await makeEntity()]
  const erasure = await one.admin.call<Erasure>('DELETE', '/v1/preview/projects/nothing')
  expect((await other.admin.send('GET', `/v1/preview/erasures/${erasure.id}`)).status).toBe(404)
  expect((await one.admin.send('GET', '/v1/preview/erasures/x')).status).toBe(404)
  expect((await one.admin.send('DELETE', '/v1/preview/projects/a%00b')).status).toBe(404)
})

test('a second request gets the first erasure, unless data was added since', async () => {
  const { admin, adminKey, entity } = await makeEntity()
  const send = async (headers: Record<string, string> = {}) => {
    const authorization = `Bearer ${adminKey}`
    const url = `${stack.url}/v1/preview/projects/p`
    return (await (await fetch(url, { method: 'DELETE', headers: { ...headers, authorization } })).json()) as Erasure
  }
  const secondTry = { 'x-stainless-retry-count': '1' }
  const addModel = () => admin.call('POST', '/v1/preview/models', { project: 'p', base_model: stack.baseModel })
  await addModel()
  const first = await send()
  expect(await send(secondTry)).toMatchObject({ id: first.id })
  await addModel()
  const second = await send(secondTry)
  expect(second.id).not.toBe(first.id)
  expect((await admin.call<{ data: object[] }>('GET', '/v1/preview/models')).data).toEqual([])
  expect(await send(secondTry)).toMatchObject({ id: second.id })
  // This entity has only traces.
  await pool.query(`INSERT INTO tracing.projects (entity, name) VALUES ($1, 'p'), ($1, 'other')`, [entity])
  const third = await send(secondTry)
  expect(third.id).not.toBe(second.id)
  expect(await send(secondTry)).toMatchObject({ id: third.id })
  const { rows: open } = await pool.query('SELECT name FROM tracing.projects WHERE entity = $1 AND closed_at IS NULL', [
    entity,
  ])
  expect(open).toEqual([{ name: 'other' }])
})

test('an entity whose name is not a valid key of the store is erased too', async () => {
  const { admin, entity } = await makeEntity(`erase..${randomUUID().slice(0, 8)}`)
  await pool.query(
    `INSERT INTO tracing.projects (entity, name, created_at, closed_at)
     VALUES ($1, 'p', now() - interval '2 minutes', now() - interval '2 minutes')`,
    [entity],
  )
  const erasure = await admin.call<Erasure>('DELETE', `/v1/preview/entities/${entity}`)
  await settle(erasure.id)
  await eventually(async () =>
    expect(await admin.call<Erasure>('GET', `/v1/preview/erasures/${erasure.id}`)).toMatchObject({ state: 'done' }),
  )
})
