import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { backUp } from '../../operator/backup/back-up.ts'
import { restore } from '../../operator/backup/restore.ts'
import { wantClaim } from '../../db/store/installation.ts'
import { createLogger } from '../../lib/log.ts'
import { StoreGuard } from '../../operator/gc/guard.ts'
import { addKey } from '../support/api-server.ts'
import {
  download,
  openBackupSide,
  readCalls,
  readLists,
  upload,
  write,
  type BackupSide,
} from '../support/backup-side.ts'
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts'
import { ModelRows } from '../support/model-rows.ts'
import { describeSchema, installationOf } from '../support/own-installation.ts'
import { makeFolder, makeStoreFolder } from '../support/own-store.ts'
import { useStack } from '../support/stack.ts'
import { planWrites } from '../support/trace-writes.ts'
import { TrainingRows } from '../support/training-rows.ts'

const stack = useStack()
const log = createLogger('test', 'silent')

const guardOf = ({ database: { pool }, store }: Pick<BackupSide, 'database' | 'store'>) =>
  new StoreGuard({ pool, tracing: pool, artifacts: new FolderStore(store), log })

test('a backup that is made while others write contains whole data, and is restored into an empty installation', async () => {
  const source = await createTestDatabase()
  onTestFinished(source.drop)
  const key = await addKey(source.pool, 'team', 'admin')
  const from = await openBackupSide(stack, { database: source, store: await makeStoreFolder(), key })
  const rows = new ModelRows(source.pool, from.store)
  const modelId = await new TrainingRows(source.pool).addModel('tests')
  const checkpointId = await rows.addCheckpoint(modelId, 1, { metrics: { reward: 0.5 } })
  await rows.addJob(modelId, 'Succeeded')
  const webhook = await from.rest.call<{ id: string; secret: string }>('POST', '/v1/preview/webhooks', {
    url: 'http://127.0.0.1:9/',
  })
  await upload(from, 'before')
  for (const each of planWrites('before')) await write(from, each)

  const guard = guardOf(from)
  await guard.check()
  expect(guard.isOurs).toBe(true)
  const garbage = path.join(from.store, 'payloads', 'team', `${'0'.repeat(64)}.json`)
  await mkdir(path.dirname(garbage), { recursive: true })
  await writeFile(garbage, '{}')
  const listed = await readLists(from)
  const calls = await readCalls(from)

  // Others write and remove all the time.
  let isOver = false
  let rounds = 0
  const writing = (async () => {
    for (; !isOver; rounds++) {
      await upload(from, `during-${rounds}`)
      for (const each of planWrites(`during-${rounds}`)) await write(from, each)
    }
  })()
  const folder = path.join(await makeFolder(), 'backup')
  const backingUp = backUp(installationOf(from.database, from.store), folder)
  const removing = (async () => {
    await delay(11_000)
    await expect(guard.artifacts.remove('payloads/team/none.json')).rejects.toThrow('a backup is being made')
  })()
  const manifest = await backingUp
  isOver = true
  await Promise.all([writing, removing])
  expect(rounds).toBeGreaterThan(1)
  await guard.check()
  expect(guard.isOurs).toBe(true)

  const target = await createEmptyDatabase()
  onTestFinished(target.drop)
  const to = { database: target, store: await makeStoreFolder() }
  await restore(installationOf(to.database, to.store), folder)
  expect(await describeSchema(target.pool)).toEqual(await describeSchema(source.pool))
  const restored = await openBackupSide(stack, { ...to, key })

  // Everything from before the backup is there, and what was written meanwhile is whole.
  const lists = await readLists(restored)
  const during = (each: object) => JSON.stringify(each).includes('during-')
  expect(lists.map((list) => list.filter((each) => !during(each)))).toEqual(listed)
  const restoredCalls = await readCalls(restored)
  for (const [id, line] of calls) expect(restoredCalls.get(id)).toBe(line)
  const { rows: names } = await target.pool.query<{ name: string }>('SELECT name FROM training.artifacts ORDER BY 1')
  expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['before', 'during-0']))
  for (const { name } of names) {
    const file = `/v1/preview/artifacts/team/tests/${name}/files/a.jsonl`
    expect([name, await download(restored, file)]).toEqual([name, await download(from, file)])
  }
  for (const part of ['archive', 'files/adapter_model.safetensors']) {
    const file = `/v1/preview/models/${modelId}/checkpoints/1/${part}`
    expect(await download(restored, file)).toBe(await download(from, file))
  }
  expect(existsSync(path.join(to.store, 'checkpoints', checkpointId, 'manifest.json'))).toBe(true)
  const { rows: secrets } = await target.pool.query('SELECT sealed_secret FROM training.webhooks WHERE id = $1', [
    webhook.id,
  ])
  const { rows: original } = await source.pool.query('SELECT sealed_secret FROM training.webhooks WHERE id = $1', [
    webhook.id,
  ])
  expect(secrets).toEqual(original)
  expect(manifest.keys).toEqual(['webhook-key'])

  // New rows get new numbers.
  await upload(restored, 'after')
  for (const each of planWrites('after')) await write(restored, each)
  await restored.rest.call('POST', '/v1/preview/webhooks', { url: 'http://127.0.0.1:9/' })

  // Nothing is removed until somebody has looked at it.
  const collector = guardOf(to)
  await collector.check()
  await collector.sweep()
  expect(collector.trouble).toContain('its mark is newer than the database')
  await expect(collector.artifacts.remove(`checkpoints/${checkpointId}/manifest.json`)).rejects.toThrow('restored')
  await wantClaim(target.pool)
  await collector.check()
  expect(collector.isOurs).toBe(true)
})
