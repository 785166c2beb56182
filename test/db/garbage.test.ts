import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { sumStoredBytes } from '../../db/accounts/quota-use.ts'
import { keepGarbage, listGarbage, releaseGarbage } from '../../db/gc/garbage.ts'
import { insertPending } from '../../db/wandb/pending-artifacts.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import {
  expireOptimizerStates,
  expirePayloads,
  expirePendingArtifacts,
  expireTokenStatistics,
} from '../../operator/retention/files.ts'
import { sweepGarbage } from '../../operator/gc/sweep.ts'
import { useTestDatabase } from '../support/database.ts'
import { ModelRows } from '../support/model-rows.ts'

const warnings: object[] = []
const log = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line) as object) })
const database = useTestDatabase()
let root: string
let rows: ModelRows

beforeEach(async () => {
  warnings.length = 0
  root = await mkdtemp(path.join(tmpdir(), 'garbage-'))
  await database.pool.query(
    'TRUNCATE training.garbage, training.blobs, training.models, auth.entities, tracing.projects CASCADE',
  )
  rows = new ModelRows(database.pool, root)
  // Files that are newer than all rows are not garbage.
  await addModel()
  return () => rm(root, { recursive: true })
})

const sweep = () => sweepGarbage({ pool: database.pool, tracing: database.pool, artifacts: new FolderStore(root), log })
const wait = (days: number) =>
  database.pool.query('UPDATE training.garbage SET quarantined_at = quarantined_at - make_interval(days => $1)', [days])

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

test('unreferenced objects are quarantined with a warning, and removed seven days later', async () => {
  const files = [
    rows.folderOf(await addOldCheckpoint()),
    await putOld('payloads/team/aa.json'),
    await putOld('artifacts/team/bb'),
    await putOld('uploads/team/cc/0'),
    await putOld('traces/team/1/calls/dd'),
    await putOld('traces/team/1/files/ee'),
  ]
  expect(await sweep()).toEqual({ found: 6, removed: 0, trouble: undefined })
  expect(warnings).toEqual([expect.objectContaining({ units: 6, removedAfterDays: 7 })])
  await wait(6)
  expect(await sweep()).toEqual({ found: 6, removed: 0, trouble: undefined })
  expect(warnings).toHaveLength(1)
  await wait(2)
  expect(await sweep()).toEqual({ found: 6, removed: 6, trouble: undefined })
  expect(files.filter((file) => existsSync(file))).toEqual([])
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
})

test('referenced units, new units and foreign objects stay', async () => {
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
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  expect(existsSync(rows.folderOf(recorded))).toBe(true)
})

test('a unit that is referenced again during quarantine stays', async () => {
  const payload = await putOld('payloads/team/again.json')
  await sweep()
  await wait(8)
  await rows.addJob(await addModel(), 'Queued', 'artifact:///payloads/team/again.json')
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  expect(existsSync(payload)).toBe(true)
  const { rows: noted } = await database.pool.query('SELECT FROM training.garbage')
  expect(noted).toEqual([])
})

test.each<[string, (count: number) => Promise<unknown>]>([
  ['checkpoints', () => addOldCheckpoint()],
  ['statistics', () => putOld(`token-statistics/${randomUUID()}.parquet`)],
  ['progress', () => putOld(`progress/${randomUUID()}/${randomUUID()}/manifest.json`)],
  ['payloads', (count) => putOld(`payloads/team/${count}.json`)],
  ['files of data sets', (count) => putOld(`artifacts/team/${count}`)],
  ['uploads', (count) => putOld(`uploads/nobody/${count}/0-1`)],
  ['payloads of calls', (count) => putOld(`traces/team/7/calls/${count}`)],
  ['files of traces', (count) => putOld(`traces/team/7/files/${count}`)],
])(
  'if a store has many %s that the database does not know, nothing is removed until an administrator decides',
  async (_, add) => {
    const model = await addModel()
    for (let step = 1; step <= 20; step++) await rows.addCheckpoint(model, step)
    for (let count = 0; count < 11; count++) await add(count)
    const stopped = { found: 11, removed: 0, trouble: expect.stringMatching(/does not know 11 of the 31 objects/) }
    expect(await sweep()).toEqual(stopped)
    await wait(8)
    expect(await sweep()).toEqual(stopped)
    // Its quarantine begins when sweeps resume.
    expect(await keepGarbage(database.pool, 'all')).toBe(11)
    await wait(8)
    expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
    expect(await releaseGarbage(database.pool, 'all')).toBe(11)
    expect(await sweep()).toEqual({ found: 11, removed: 0, trouble: undefined })
    await wait(8)
    expect(await sweep()).toEqual({ found: 11, removed: 11, trouble: undefined })
  },
)

test('known garbage is removed, even if much of the store is unknown', async () => {
  const job = await rows.addJob(await addModel(), 'Succeeded')
  const known = await putOld(`progress/${job}/${randomUUID()}/manifest.json`)
  const unseen = []
  for (let count = 0; count < 11; count++) unseen.push(await putOld(`payloads/team/${count}.json`))
  await sweep()
  await wait(8)
  expect(await sweep()).toEqual({
    found: 12,
    removed: 1,
    trouble: expect.stringMatching(/does not know 11 of the 12/),
  })
  expect([known, ...unseen].filter((file) => existsSync(file))).toEqual(unseen)
})

test('kept units stay kept if the store seems empty for a moment', async () => {
  const kept = await putOld('payloads/team/kept.json')
  await sweep()
  await keepGarbage(database.pool, 'all')
  const empty = await mkdtemp(path.join(tmpdir(), 'garbage-'))
  const artifacts = new FolderStore(empty)
  expect(await sweepGarbage({ pool: database.pool, tracing: database.pool, artifacts, log })).toMatchObject({
    found: 0,
  })
  await rm(empty, { recursive: true })
  await sweep()
  await wait(8)
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  expect(existsSync(kept)).toBe(true)
})

test('a unit that is newer than the newest row is not garbage', async () => {
  const payload = await putOld('payloads/team/later.json')
  await database.pool.query(`UPDATE training.models SET created_at = now() - interval '20 days'`)
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  await addModel()
  expect(await sweep()).toEqual({ found: 1, removed: 0, trouble: undefined })
  await wait(8)
  await database.pool.query(`UPDATE training.models SET created_at = now() - interval '20 days'`)
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  expect(existsSync(payload)).toBe(true)
})

test('kept units are never removed, and referenced ones are no longer recorded', async () => {
  const [kept, used] = [await putOld('payloads/team/kept.json'), await putOld('payloads/team/used.json')]
  await sweep()
  expect(await keepGarbage(database.pool, ['payloads/team/kept.json', 'payloads/team/used.json', 'none'])).toBe(2)
  await wait(100)
  await rows.addJob(await addModel(), 'Queued', 'artifact:///payloads/team/used.json')
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  expect([kept, used].map((file) => existsSync(file))).toEqual([true, true])
  expect((await listGarbage(database.pool)).map(({ prefix }) => prefix)).toEqual(['payloads/team/kept.json'])
})

test('payloads and files of traces that rows point at stay', async () => {
  const { rows: made } = await database.pool.query<{ number: number }>(
    `INSERT INTO tracing.projects (entity, name) VALUES ('team', 'p') RETURNING number`,
  )
  const project = made[0]!.number
  const keys = ['calls/used', 'calls/replaced', 'calls/lost', 'files/used', 'files/lost'].map(
    (name) => `traces/team/${project}/${name}`,
  )
  const files = await Promise.all(keys.map((key) => putOld(key)))
  await database.pool.query(`INSERT INTO tracing.calls (week, project, id, spilled) VALUES (-1, $1, 'c', $2)`, [
    project,
    JSON.stringify({ inputs: { key: keys[0], size: 1 } }),
  ])
  await database.pool.query(`INSERT INTO tracing.replaced_payloads (project, week, id, key) VALUES ($1, -1, 'c', $2)`, [
    project,
    keys[1],
  ])
  await database.pool.query(`INSERT INTO tracing.files (project, digest, size, artifact_key) VALUES ($1, 'd', 1, $2)`, [
    project,
    keys[3],
  ])
  expect(await sweep()).toEqual({ found: 2, removed: 0, trouble: undefined })
  await wait(8)
  expect(await sweep()).toEqual({ found: 2, removed: 2, trouble: undefined })
  expect(files.map((file) => existsSync(file))).toEqual([true, true, false, true, false])
})

test('a file that a version needs stays, even if its row is missing', async () => {
  const file = await putOld('artifacts/team/needed')
  const { rows: made } = await database.pool.query<{ id: string }>(
    `INSERT INTO training.artifacts (entity, project, name) VALUES ('team', 'p', $1) RETURNING id`,
    [randomUUID()],
  )
  await database.pool.query(
    `INSERT INTO training.artifact_versions (id, artifact_id, version, digest, size, files, metadata, key_id)
     VALUES ($1, $2, 0, 'v', 1, '[{"path": "a", "digest": "needed", "size": 1}]', '{}', $1)`,
    [randomUUID(), made[0]!.id],
  )
  expect(await sweep()).toEqual({ found: 0, removed: 0, trouble: undefined })
  expect(existsSync(file)).toBe(true)
})

test('abandoned uploads are known garbage, even if there are many', async () => {
  for (let count = 0; count < 11; count++) {
    await putOld(`artifacts/team/${count}`)
    await database.pool.query(
      `INSERT INTO training.blobs (entity, digest, size, created_at) VALUES ('team', $1, 1, now() - interval '2 days')`,
      [count],
    )
  }
  expect(await sweep()).toEqual({ found: 11, removed: 0, trouble: undefined })
  await wait(8)
  expect(await sweep()).toEqual({ found: 11, removed: 11, trouble: undefined })
})

test('quarantined units count for their entity until they are removed, and once if they are stored again', async () => {
  const before = await sumStoredBytes(database.pool, 'team')
  await database.pool.query(
    `INSERT INTO training.blobs (entity, digest, size, created_at) VALUES ('team', 'forgotten', 1, now() - interval '2 days')`,
  )
  await putOld('artifacts/team/forgotten')
  await putOld('payloads/team/lost.json')
  await putOld('payloads/others/lost.json')
  const stored = async () => (await sumStoredBytes(database.pool, 'team')) - before
  expect(await stored()).toBe(1)
  await sweep()
  expect(await stored()).toBe(2)
  await database.pool.query(`INSERT INTO training.blobs (entity, digest, size) VALUES ('team', 'forgotten', 1)`)
  expect(await stored()).toBe(2)
  await database.pool.query(`DELETE FROM training.blobs`)
  await keepGarbage(database.pool, ['payloads/team/lost.json'])
  expect(await stored()).toBe(1)
  await wait(8)
  await sweep()
  expect(await stored()).toBe(0)
})

test('only the newest step keeps its optimizer state', async () => {
  const model = await addModel()
  const ids = [await rows.addCheckpoint(model, 1), await rows.addCheckpoint(model, 2)]
  const kept = () => ids.map((id) => existsSync(path.join(rows.folderOf(id), 'optimizer.safetensors')))
  const deps = { pool: database.pool, artifacts: new FolderStore(root) }
  await expireOptimizerStates(deps)
  await expireOptimizerStates(deps)
  expect(kept()).toEqual([false, true])
  expect(existsSync(path.join(rows.folderOf(ids[0]!), 'adapter_model.safetensors'))).toBe(true)
})

test('the ten newest steps keep their token statistics', async () => {
  const model = await addModel()
  const files: string[] = []
  for (let step = 1; step <= 13; step++) files.push(await rows.addStatistics(await rows.addCheckpoint(model, step)))
  const deps = { pool: database.pool, artifacts: new FolderStore(root) }
  await expireTokenStatistics(deps)
  await expireTokenStatistics(deps)
  expect(files.map((file) => existsSync(file))).toEqual([...Array(3).fill(false), ...Array(10).fill(true)])
  const { rows: kept } = await database.pool.query<{ step: number }>(
    'SELECT step FROM training.checkpoints WHERE statistics_digest IS NOT NULL ORDER BY step',
  )
  expect(kept.map(({ step }) => step)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
})

test('token statistics are garbage only if they were never reported', async () => {
  const [reported, unreported] = [
    await rows.addCheckpoint(await addModel(), 1),
    await rows.addCheckpoint(await addModel(), 1),
  ]
  const kept = await rows.addStatistics(reported)
  await rows.makeOld(kept)
  const files = [
    kept,
    await putOld(`token-statistics/${unreported}.parquet`),
    await putOld(`token-statistics/${randomUUID()}.parquet`),
  ]
  expect(await sweep()).toEqual({ found: 2, removed: 0, trouble: undefined })
  await wait(8)
  expect(await sweep()).toEqual({ found: 2, removed: 2, trouble: undefined })
  expect(files.map((file) => existsSync(file))).toEqual([true, false, false])
})

test("payloads are removed when the entity's retention has passed since the end of their jobs", async () => {
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
  await expirePayloads({ pool: database.pool, artifacts: new FolderStore(root) })
  expect(files.map((file) => existsSync(file))).toEqual([false, true, true, true, true])
})

test('an artifact that is never committed goes after a day with its parts, and its files are garbage', async () => {
  const { pool } = database
  const [old, young] = [randomUUID(), randomUUID()]
  const name = {
    entity: 'team',
    project: 'p',
    name: 'data',
    type: 'dataset',
    keyId: randomUUID(),
    digest: '',
    aliases: [],
  }
  const more = { metadata: {}, description: null, runName: null, clientId: null }
  for (const id of [old, young]) await insertPending(pool, { ...name, ...more, id })
  const parts = await Promise.all([old, young].map((id) => putOld(`uploads/team/${id}/md5/1-md5`)))
  const object = randomUUID()
  const file = await putOld(`artifacts/team/${object}`)
  await pool.query(
    `INSERT INTO training.blobs (entity, digest, size, object, created_at) VALUES ('team', 'd', 1, $1, now() - interval '2 days')`,
    [object],
  )
  await pool.query(`UPDATE training.pending_artifacts SET created_at = now() - interval '25 hours' WHERE id = $1`, [
    old,
  ])
  await expirePendingArtifacts({ pool, artifacts: new FolderStore(root) })
  const { rows: left } = await pool.query<{ id: string }>('SELECT id FROM training.pending_artifacts')
  expect(left).toEqual([{ id: young }])
  expect(parts.map(existsSync)).toEqual([false, true])
  await sweep()
  expect((await listGarbage(pool)).map(({ prefix }) => prefix)).toContain(`artifacts/team/${object}`)
  await wait(8)
  await sweep()
  expect(existsSync(file)).toBe(false)
})

test('a file that was stored as a stream stays, and one whose process died before it had a row is known garbage', async () => {
  const [kept, lost] = [randomUUID(), randomUUID()]
  const files = await Promise.all([kept, lost].map((object) => putOld(`artifacts/team/${object}`)))
  await database.pool.query(`INSERT INTO training.blobs (entity, digest, size, object) VALUES ('team', $1, 1, $2)`, [
    'e'.repeat(64),
    kept,
  ])
  await database.pool.query(`INSERT INTO auth.api_keys (entity, digest) VALUES ('team', $1)`, [randomUUID()])
  await sweep()
  expect(await listGarbage(database.pool)).toMatchObject([{ prefix: `artifacts/team/${lost}`, unseen: false }])
  await wait(8)
  await sweep()
  expect(files.map(existsSync)).toEqual([true, false])
})
