import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prepareGarbageCommand } from '../../apiserver/accounts/admin/garbage-command.ts'
import { prepareAdminCommand } from '../../apiserver/accounts/admin/run.ts'
import { readInstallation } from '../../db/store/installation.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { StoreGuard } from '../../operator/gc/guard.ts'
import { startMaintenance, type MaintenanceDeps } from '../../operator/maintenance.ts'
import { type TestDatabase, useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ModelRows } from '../support/model-rows.ts'

const errors: string[] = []
const log = pino(
  { level: 'error' },
  { write: (line) => errors.push((JSON.parse(line) as { trouble: string }).trouble) },
)
/** How many removals are counted as drift, by case. */
let counted: Record<string, number> = {}
const events = {
  recordDrift: (drift: string, count = 1) => void (counted[drift] = (counted[drift] ?? 0) + count),
}
const ours = useTestDatabase()
const theirs = useTestDatabase()
let root: string

afterEach(() => vi.restoreAllMocks())
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'guard-'))
  errors.length = 0
  counted = {}
  for (const { pool } of [ours, theirs]) {
    await pool.query(`TRUNCATE training.garbage, training.models, training.store_marks, tracing.store_marks CASCADE;
      UPDATE training.installation SET id = gen_random_uuid(), trouble = NULL, claim_wanted = false`)
  }
  return () => rm(root, { recursive: true })
})

/** The operator's work in the first hours of an installation: a new guard lists the store at once. */
async function operate({ pool }: TestDatabase, hours = 2, artifacts: ArtifactStore = new FolderStore(root)) {
  const deps = { pool, tracing: pool, artifacts, log, events }
  let guard = new StoreGuard(deps)
  for (let hour = 0; hour < hours; hour++) {
    guard = new StoreGuard(deps)
    await guard.check()
    await guard.sweep()
  }
  return guard
}

/** Simulates days of operation. The operator works for an hour on every third day. */
async function passDays(databases: TestDatabase[], days: number): Promise<void> {
  for (let day = 0; day < days; day += 3) {
    for (const database of databases) {
      await database.pool.query(`UPDATE training.garbage SET quarantined_at = quarantined_at - interval '3 days'`)
      await operate(database, 1)
    }
  }
}

async function addThings(database: TestDatabase, count: number, days = 10): Promise<string[]> {
  const { rows: made } = await database.pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     VALUES ('team', 'p', $1, 'base', 'ns', $1) RETURNING id`,
    [randomUUID()],
  )
  const rows = new ModelRows(database.pool, root)
  const files: string[] = []
  for (let step = 1; step <= count; step++) {
    const folder = rows.folderOf(await rows.addCheckpoint(made[0]!.id, step))
    const key = `payloads/team/${randomUUID()}.json`
    await rows.addJob(made[0]!.id, 'Succeeded', `artifact:///${key}`)
    files.push(await putOld(key, days))
    for (const name of await readdir(folder)) files.push(await makeOld(path.join(folder, name), days))
  }
  return files
}

async function putOld(key: string, days = 10): Promise<string> {
  const file = path.join(root, key)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, 'x')
  return makeOld(file, days)
}

async function makeOld(file: string, days: number): Promise<string> {
  const time = new Date(Date.now() - days * 24 * 3600_000)
  await utimes(file, time, time)
  return file
}

/** A store that calls `happen` when it has been listed completely. */
function listing(happen: () => Promise<unknown>): ArtifactStore {
  const artifacts = new FolderStore(root)
  const list = artifacts.list.bind(artifacts)
  artifacts.list = async function* (prefix) {
    yield* list(prefix)
    if (prefix === '') await happen()
  }
  return artifacts
}

const areThere = (files: string[]) => files.every((file) => existsSync(file))
const countNoted = async ({ pool }: TestDatabase) => (await pool.query('SELECT FROM training.garbage')).rowCount
/** The output of a command: its note, and the lines for other programs. */
async function say(...args: string[]): Promise<string[]> {
  const { note = '', output } = await prepareGarbageCommand(args)(ours.pool)
  return [note, output].filter((text) => text !== '')
}
const run = (database: TestDatabase, ...args: string[]) => prepareAdminCommand('garbage', args)(database.pool)

test('an installation takes over an empty store, and sweeps it from then on', async () => {
  const guard = await operate(ours)
  expect([guard.isOurs, guard.trouble, errors]).toEqual([true, undefined, []])
  const kept = await addThings(ours, 3)
  const garbage = await putOld('payloads/team/nobody.json')
  await passDays([ours], 9)
  expect(existsSync(garbage)).toBe(true)
  await passDays([ours], 3)
  expect([areThere(kept), existsSync(garbage)]).toEqual([true, false])
})

test('if two installations use one store, neither removes anything, and both report it', async () => {
  await operate(ours)
  const files = await addThings(ours, 12)
  await operate(theirs)
  files.push(...(await addThings(theirs, 2)), await putOld('payloads/team/nobody.json'))
  await passDays([ours, theirs], 15)
  expect(areThere(files)).toBe(true)
  const [own, other] = [await readInstallation(ours.pool), await readInstallation(theirs.pool)]
  expect(own.trouble).toMatch(new RegExp(`other installations use it too \\(${other.id}\\).*npm run garbage -- claim`))
  expect(other.trouble).toContain(own.id)
  expect(errors).toContain(other.trouble)
  expect((await operate(ours)).isOurs).toBe(false)

  // The other database no longer exists. Its files are kept until an administrator declares them garbage.
  await run(ours, 'claim')
  expect((await operate(ours)).isOurs).toBe(true)
  await passDays([ours], 15)
  expect(areThere(files)).toBe(true)
  // Checkpoints of two jobs, their payloads, and files without an owner.
  expect(await countNoted(ours)).toBe(5)
  await run(ours, 'release', '--all')
  await passDays([ours], 9)
  expect(files.filter((file) => existsSync(file))).toHaveLength(12 * 5)
})

test('two installations whose store has no signs yet keep the data of both', async () => {
  const files = [...(await addThings(ours, 24)), ...(await addThings(theirs, 1))]
  expect((await operate(ours)).isOurs).toBe(true)
  expect((await operate(theirs)).isOurs).toBe(false)
  await passDays([ours, theirs], 15)
  expect(areThere(files)).toBe(true)
})

test('with a restored database, nothing that is newer than its backup is removed', async () => {
  await operate(ours)
  const files = await addThings(ours, 12, 20)
  const { rows: marks } = await ours.pool.query<{ mark: string }>('SELECT mark FROM training.store_marks')
  await operate(ours)
  files.push(...(await addThings(ours, 2, 5)))
  // Restores last week's database: its rows and marks of that time.
  await ours.pool.query(`DELETE FROM training.checkpoints WHERE model_id IN (SELECT model_id FROM training.checkpoints
    GROUP BY model_id HAVING count(*) = 2)`)
  await ours.pool.query(`DELETE FROM training.jobs WHERE model_id NOT IN (SELECT model_id FROM training.checkpoints)`)
  await ours.pool.query('DELETE FROM training.store_marks WHERE mark <> ALL ($1)', [marks.map(({ mark }) => mark)])
  // Work continues.
  files.push(...(await addThings(ours, 1)))
  await passDays([ours], 15)
  expect(areThere(files)).toBe(true)
  expect((await readInstallation(ours.pool)).trouble).toMatch(/newer than the database\. The database was restored/)
  await run(ours, 'claim')
  await passDays([ours], 15)
  expect([areThere(files), await countNoted(ours)]).toEqual([true, 4])
  expect((await readInstallation(ours.pool)).trouble).toBe(null)
})

test('while a database and its copy are both in use, nothing is removed', async () => {
  await operate(ours)
  const files = await addThings(ours, 12)
  const { id } = await readInstallation(ours.pool)
  const { rows } = await ours.pool.query<{ mark: string }>('SELECT mark FROM training.store_marks')
  await operate(ours)
  await theirs.pool.query('UPDATE training.installation SET id = $1', [id])
  for (const { mark } of rows) {
    await theirs.pool.query('INSERT INTO training.store_marks VALUES ($1)', [mark])
    await theirs.pool.query('INSERT INTO tracing.store_marks VALUES ($1)', [mark])
  }
  expect((await operate(theirs)).trouble).toMatch(/a copy of it is in use/)
  files.push(...(await addThings(theirs, 2)))
  expect((await operate(ours)).trouble).toContain(`${id}.copy`)
  await passDays([ours, theirs], 15)
  expect(areThere(files)).toBe(true)
})

test("the restoration of only the traces' database is noticed", async () => {
  await operate(ours)
  await ours.pool.query('DELETE FROM tracing.store_marks')
  expect((await operate(ours)).trouble).toMatch(/newer than the database of traces/)
})

test('a store without signs is adopted if its units are known', async () => {
  const files = await addThings(ours, 12)
  files.push(await putOld(`checkpoints/${randomUUID()}/manifest.json`))
  expect((await operate(ours)).isOurs).toBe(true)
  await passDays([ours], 15)
  expect(areThere(files)).toBe(true)
})

test('in a store with unknown units, nothing is removed until it is claimed', async () => {
  const files = [...(await addThings(theirs, 3)), ...(await addThings(ours, 1))]
  const guard = await operate(ours)
  expect(guard.isOurs).toBe(false)
  expect(guard.trouble).toMatch(/it has no owner, and the database does not know 6 of its 8 objects/)
  expect(errors).toContain(guard.trouble)
  await passDays([ours], 15)
  expect([areThere(files), await countNoted(ours)]).toEqual([true, 0])
  await run(ours, 'claim')
  expect((await operate(ours)).isOurs).toBe(true)
})

test.each<[string, () => Promise<unknown>]>([
  ['another installation begins to use the store', () => operate(theirs, 1)],
  ['the database is restored', () => ours.pool.query('DELETE FROM training.store_marks')],
])('a long sweep stops removing when %s', async (_, happen) => {
  await operate(ours)
  await addThings(ours, 3)
  const garbage = await putOld('payloads/team/nobody.json')
  await operate(ours)
  await ours.pool.query(`UPDATE training.garbage SET quarantined_at = quarantined_at - interval '8 days'`)
  const artifacts = listing(async () => {
    await happen()
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
  })
  await expect(operate(ours, 1, artifacts)).rejects.toThrow(/nothing is removed from the artifact store/)
  expect(existsSync(garbage)).toBe(true)
  expect((await readInstallation(ours.pool)).trouble).toMatch(/nothing is removed/)
})

test('while a store is listed, deleted data is still removed', async () => {
  await operate(ours)
  await addThings(ours, 1)
  const { rows } = await ours.pool.query<{ job: string; id: string }>(
    `INSERT INTO training.job_progress (job_id, id, attempt, step, digest)
     SELECT id, gen_random_uuid(), 1, 1, 'd' FROM training.jobs RETURNING job_id AS job, id`,
  )
  const saved = await putOld(`progress/${rows[0]!.job}/${rows[0]!.id}/manifest.json`)
  const listed = Promise.withResolvers<void>()
  const artifacts = listing(() => listed.promise)
  const deps = { pool: ours.pool, tracing: ours.pool, artifacts, log }
  const stop = startMaintenance({ ...deps, traceDays: null } as MaintenanceDeps, new StoreGuard(deps))
  await eventually(() => expect(existsSync(saved)).toBe(false))
  listed.resolve()
  await stop()
})

test('quarantined units can be listed, kept and released', async () => {
  await operate(ours)
  expect(await say('list')).toEqual([
    expect.stringMatching(
      /^Installation [0-9a-f-]{36}: garbage is removed from the artifact store\.\nNothing is in quarantine, and/,
    ),
  ])
  await addThings(ours, 3)
  const files = [await putOld('payloads/team/a.json'), await putOld('payloads/team/b.json')]
  await operate(ours)
  expect(await say('keep', 'payloads/team/a.json', 'payloads/team/c.json')).toEqual([
    '1 of 2 are kept; "list" shows all.\n',
  ])
  const since = '\\d{4}-\\d\\d-\\d\\dT\\S+Z'
  expect(await say('list')).toEqual([
    expect.stringMatching(/^Installation [0-9a-f-]{36}: garbage is removed from the artifact store\.\n$/),
    expect.stringMatching(
      new RegExp(
        `^QUARANTINED SINCE +STATE +BYTES  PREFIX\n${since}  kept +1 +payloads/team/a.json\n` +
          `${since}  unknown  1 +payloads/team/b.json\n$`,
      ),
    ),
  ])
  await passDays([ours], 9)
  expect([files.map((file) => existsSync(file)), counted]).toEqual([[true, false], { file_unreferenced: 1 }])
  expect(await say('release', '--all')).toEqual([
    '1 are released, and removed after seven days in quarantine; "list" shows all.\n',
  ])
  expect((await say('list'))[1]).toMatch(/ unused +1 +payloads\/team\/a.json\n$/)
  await passDays([ours], 9)
  expect(areThere(files)).toBe(false)
  expect(await countNoted(ours)).toBe(0)
  expect(await say('claim')).toEqual([expect.stringMatching(/^The operator claims the artifact store within seconds/)])
})
