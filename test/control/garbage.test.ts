import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLogger } from '../../lib/log.ts'
import { createArtifactStore } from '../../lib/artifact-store/create-store.ts'
import { removeOldOptimizers, removeOldPayloads, removeOldStatistics } from '../../operator/garbage/expired.ts'
import { sweepGarbage } from '../../operator/garbage/sweep.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { ModelRows } from '../support/model-rows.ts'

const log = createLogger('test', 'silent')
let database: TestDatabase
let root: string
let rows: ModelRows

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'garbage-'))
  await database.pool.query('TRUNCATE training.garbage, training.models, auth.entities CASCADE')
  rows = new ModelRows(database.pool, root)
  return () => rm(root, { recursive: true })
})

const sweep = () => sweepGarbage({ pool: database.pool, artifacts: createArtifactStore(root), log })
const waitADay = () => database.pool.query(`UPDATE training.garbage SET noted_at = noted_at - interval '25 hours'`)

async function addModel(entity = 'team'): Promise<string> {
  const { rows: made } = await database.pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     VALUES ($1, 'p', $2, 'base', 'ns', $2) RETURNING id`,
    [entity, randomUUID()],
  )
  return made[0]!.id
}

async function putOld(key: string): Promise<string> {
  const file = path.join(root, key)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, 'x')
  await rows.makeOld(file)
  return file
}

async function addOldCheckpoint(id: string = randomUUID()): Promise<string> {
  await rows.writeFiles(id)
  for (const name of ['adapter_config.json', 'adapter_model.safetensors', 'optimizer.safetensors', 'manifest.json']) {
    await rows.makeOld(path.join(rows.folderOf(id), name))
  }
  return id
}

test('what nothing points at is noted, and removed a day later', async () => {
  const checkpoint = await addOldCheckpoint()
  const payload = await putOld('payloads/team/aa.json')
  const blob = await putOld('artifacts/team/bb')
  const upload = await putOld('uploads/team/cc/0')
  expect(await sweep()).toEqual({ found: 4, removed: 0, stopped: false })
  expect(await sweep()).toEqual({ found: 4, removed: 0, stopped: false })
  await waitADay()
  expect(await sweep()).toEqual({ found: 4, removed: 4, stopped: false })
  expect([rows.folderOf(checkpoint), payload, blob, upload].map((file) => existsSync(file))).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(await sweep()).toEqual({ found: 0, removed: 0, stopped: false })
})

test('what rows point at, what is new, and what is not ours stays', async () => {
  const model = await addModel()
  await rows.addCheckpoint(model, 1)
  const recorded = await addOldCheckpoint(await rows.addCheckpoint(model, 2))
  await putOld('payloads/team/used.json')
  await rows.addJob(model, 'Succeeded', 'artifact:///payloads/team/used.json')
  const running = await addOldCheckpoint()
  const job = await rows.addJob(model, 'Running')
  await database.pool.query('UPDATE training.jobs SET checkpoint_id = $2 WHERE id = $1', [job, running])
  await rows.writeFiles(randomUUID())
  await putOld('somewhere/else')
  await putOld('artifacts/team/known')
  await database.pool.query(`INSERT INTO training.blobs (entity, digest, size) VALUES ('team', 'known', 1)`)
  expect(await sweep()).toEqual({ found: 0, removed: 0, stopped: false })
  expect(existsSync(rows.folderOf(recorded))).toBe(true)
})

test('what is pointed at again in the meantime stays', async () => {
  const payload = await putOld('payloads/team/again.json')
  await sweep()
  await waitADay()
  await rows.addJob(await addModel(), 'Queued', 'artifact:///payloads/team/again.json')
  expect(await sweep()).toEqual({ found: 0, removed: 0, stopped: false })
  expect(existsSync(payload)).toBe(true)
  const { rows: noted } = await database.pool.query('SELECT FROM training.garbage')
  expect(noted).toEqual([])
})

test('a store that is newer than the database is left alone', async () => {
  const model = await addModel()
  for (let step = 1; step <= 20; step++) await rows.addCheckpoint(model, step)
  const unseen = []
  for (let count = 0; count < 11; count++) unseen.push(await addOldCheckpoint())
  expect(await sweep()).toEqual({ found: 11, removed: 0, stopped: true })
  await waitADay()
  expect(await sweep()).toMatchObject({ stopped: true, removed: 0 })
  expect(unseen.every((id) => existsSync(rows.folderOf(id)))).toBe(true)
})

test('only the newest step keeps its optimizer state', async () => {
  const model = await addModel()
  const ids = [await rows.addCheckpoint(model, 1), await rows.addCheckpoint(model, 2)]
  const kept = () => ids.map((id) => existsSync(path.join(rows.folderOf(id), 'optimizer.safetensors')))
  const deps = { pool: database.pool, artifacts: createArtifactStore(root) }
  await removeOldOptimizers(deps)
  await removeOldOptimizers(deps)
  expect(kept()).toEqual([false, true])
  expect(existsSync(path.join(rows.folderOf(ids[0]!), 'adapter_model.safetensors'))).toBe(true)
})

test('the ten newest steps keep their token statistics', async () => {
  const model = await addModel()
  const files: string[] = []
  for (let step = 1; step <= 13; step++) files.push(await rows.addStatistics(await rows.addCheckpoint(model, step)))
  const deps = { pool: database.pool, artifacts: createArtifactStore(root) }
  await removeOldStatistics(deps)
  await removeOldStatistics(deps)
  expect(files.map((file) => existsSync(file))).toEqual([...Array(3).fill(false), ...Array(10).fill(true)])
  const { rows: kept } = await database.pool.query<{ step: number }>(
    'SELECT step FROM training.checkpoints WHERE statistics_digest IS NOT NULL ORDER BY step',
  )
  expect(kept.map(({ step }) => step)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
})

test('token statistics that were never reported are garbage, those that were are not', async () => {
  const [told, untold] = [await rows.addCheckpoint(await addModel(), 1), await rows.addCheckpoint(await addModel(), 1)]
  const kept = await rows.addStatistics(told)
  await rows.makeOld(kept)
  const files = [
    kept,
    await putOld(`token-statistics/${untold}.parquet`),
    await putOld(`token-statistics/${randomUUID()}.parquet`),
  ]
  expect(await sweep()).toEqual({ found: 2, removed: 0, stopped: false })
  await waitADay()
  expect(await sweep()).toEqual({ found: 2, removed: 2, stopped: false })
  expect(files.map((file) => existsSync(file))).toEqual([true, false, false])
})

test('payloads go as many days after their jobs as the entity keeps them', async () => {
  await database.pool.query(`INSERT INTO auth.entities (entity, payload_days) VALUES ('team', 3), ('other', NULL)`)
  const [mine, others] = [await addModel(), await addModel('other')]
  const add = async (model: string, name: string, days: number) => {
    const key = `payloads/${name}.json`
    const job = await rows.addJob(model, 'Succeeded', `artifact:///${key}`)
    await database.pool.query(
      `UPDATE training.jobs SET finished_at = now() - make_interval(days => $2) WHERE id = $1`,
      [job, days],
    )
    return putOld(key)
  }
  const files = [
    await add(mine, 'team/old', 4),
    await add(mine, 'team/young', 2),
    await add(mine, 'team/shared', 4),
    await add(mine, 'team/shared', 1),
    await add(others, 'other/old', 400),
  ]
  await removeOldPayloads({ pool: database.pool, artifacts: createArtifactStore(root) })
  expect(files.map((file) => existsSync(file))).toEqual([false, true, true, true, true])
})
