import { appendFile, rename, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { openSnapshot } from '../../db/backup/dump.ts'
import { loadPart } from '../../db/backup/load.ts'
import { migrate, migrateTo } from '../../db/migrate.ts'
import { pauseRemoval, readInstallation, resumeRemoval } from '../../db/store/installation.ts'
import { createLogger } from '../../lib/log.ts'
import { backUp } from '../../operator/backup/back-up.ts'
import { restore } from '../../operator/backup/restore.ts'
import { StoreGuard } from '../../operator/gc/guard.ts'
import { addKey } from '../support/api-server.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts'
import { ModelRows } from '../support/model-rows.ts'
import { describeSchema, installationOf } from '../support/own-installation.ts'
import { makeFolder, makeStoreFolder } from '../support/own-store.ts'
import { TrainingRows } from '../support/training-rows.ts'

// `npm test -- backup` makes a backup while clients write, and runs the commands on whole stacks.

const log = createLogger('test', 'silent')
const restoredTables = ['auth.api_keys', 'training.models', 'training.jobs', 'training.checkpoints', 'training.outbox']

async function listKeys(store: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of new FolderStore(store).list('')) keys.push(key)
  return keys
}

const guardOf = ({ pool }: TestDatabase, store: string) =>
  new StoreGuard({ pool, tracing: pool, artifacts: new FolderStore(store), log })

test('a backup is only restored whole, and into empty places only', async () => {
  const source = await createTestDatabase()
  onTestFinished(source.drop)
  await addKey(source.pool, 'team')
  const store = await makeStoreFolder()
  const rows = new TrainingRows(source.pool)
  const modelId = await rows.addModel()
  const jobId = await rows.addJob(modelId)
  await new ModelRows(source.pool, store).addCheckpoint(modelId, 1, { jobId })
  await new FolderStore(store).put('payloads/team/a.json', Buffer.from('{}'))
  const from = installationOf(source, store)
  const folder = path.join(await makeFolder(), 'backup')
  await backUp(from, folder)
  await expect(backUp(from, folder)).rejects.toThrow('is not empty. Name a new folder')

  const target = await createEmptyDatabase()
  onTestFinished(target.drop)
  const [empty, used] = [await makeStoreFolder(), await makeStoreFolder()]
  await new FolderStore(used).put('payloads/team/b.json', Buffer.from('{}'))
  const into = (uri: string) => restore(installationOf(target, uri), folder)
  await expect(restore(installationOf(source, empty), folder)).rejects.toThrow('The database is not empty')
  await expect(into(used)).rejects.toThrow('The artifact store is not empty: it has payloads/team/b.json')

  const keys = path.join(folder, 'database/main/auth.api_keys.copy.gz')
  await rename(keys, `${keys}.whole`)
  await writeFile(keys, 'other bytes')
  await expect(into(empty)).rejects.toThrow('The backup is damaged: auth.api_keys.copy.gz was changed')
  await rename(`${keys}.whole`, keys)
  const object = path.join(folder, 'artifacts/payloads/team/a.json')
  await appendFile(object, ' ')
  await expect(into(await makeStoreFolder())).rejects.toThrow('The backup is damaged: it has')
  await truncate(object, 2)
  const [finished, cutOff] = [path.join(folder, 'backup.json'), path.join(folder, 'backup.json.tmp')]
  await rename(finished, cutOff)
  await expect(into(await makeStoreFolder())).rejects.toThrow('it has no backup.json')
  await rename(cutOff, finished)
  // None of these attempts has written a row.
  const { rows: tables } = await target.pool.query("SELECT to_regclass('public.migrations') AS migrated")
  expect(tables).toEqual([{ migrated: null }])

  const whole = await makeStoreFolder()
  await into(whole)
  expect(await describeSchema(target.pool)).toEqual(await describeSchema(source.pool))
  for (const table of restoredTables) {
    const select = `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY 1`
    expect((await target.pool.query(select)).rows).toEqual((await source.pool.query(select)).rows)
  }
  expect(await listKeys(whole)).toEqual(expect.arrayContaining(await listKeys(store)))
  // The backup is over there too, and the restored store is not its own yet.
  expect((await readInstallation(target.pool)).isPaused).toBe(false)
  const guard = guardOf(target, whole)
  await guard.check()
  expect(guard.trouble).toContain('its mark is newer than the database')
  // New rows get new numbers.
  await new TrainingRows(target.pool).addModel('after')
})

test('nothing is removed from the store while a backup is made', async () => {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const store = await makeStoreFolder()
  await new FolderStore(store).put('payloads/team/a.json', Buffer.from('{}'))
  const guard = guardOf(database, store)
  await guard.check()
  expect(guard.isOurs).toBe(true)
  await pauseRemoval(database.pool)
  await guard.check()
  await expect(guard.artifacts.remove('payloads/team/a.json')).rejects.toThrow('a backup is being made')
  await resumeRemoval(database.pool)
  await guard.check()
  await guard.artifacts.remove('payloads/team/a.json')
})

test('rows of an earlier version are restored and then migrated, and those of a later one are rejected', async () => {
  const [source, target] = [await createEmptyDatabase(), await createEmptyDatabase()]
  onTestFinished(source.drop)
  onTestFinished(target.drop)
  const newest = await createTestDatabase()
  onTestFinished(newest.drop)
  const { rows } = await newest.pool.query<{ name: string }>('SELECT name FROM public.migrations ORDER BY id')
  const names = rows.map(({ name }) => name)
  expect(await migrateTo(source.databaseUrl, log, 'main', names.slice(0, -1))).toEqual([])
  await addKey(source.pool, 'team')
  const folder = await makeFolder()
  const snapshot = await openSnapshot(source.databaseUrl)
  const backup = await snapshot.write('main', folder)
  await snapshot.close()
  const later = { ...backup, migrations: [...names, '9999_later'] }
  const into = { url: target.databaseUrl, part: 'main', log } as const
  await expect(loadPart(into, later, folder)).rejects.toThrow('this one has no migration 9999_later')
  await loadPart(into, backup, folder)
  await migrate(target.databaseUrl, log)
  const keys = 'SELECT digest FROM auth.api_keys'
  expect((await target.pool.query(keys)).rows).toEqual((await source.pool.query(keys)).rows)
  expect((await target.pool.query('SELECT name FROM public.migrations ORDER BY id')).rows).toEqual(rows)
})
