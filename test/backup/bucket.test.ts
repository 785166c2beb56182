import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import { backUp } from '../../operator/backup/back-up.ts'
import type { Installation } from '../../operator/backup/config.ts'
import { restore } from '../../operator/backup/restore.ts'
import { addKey } from '../support/api-server.ts'
import { download, openBackupSide, readCalls, readLists, upload, write } from '../support/backup-side.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { describeSchema, installationOf } from '../support/own-installation.ts'
import { makeFolder } from '../support/own-store.ts'
import { startS3Server } from '../support/s3-server.ts'
import { useStack } from '../support/stack.ts'
import { planWrites } from '../support/trace-writes.ts'
import { TrainingRows } from '../support/training-rows.ts'

const stack = useStack()

interface Side {
  main: TestDatabase
  traces: TestDatabase
  store: string
}

async function makeSide(store: string, createMain: () => Promise<TestDatabase>): Promise<Side> {
  const [main, traces] = [await createMain(), await createEmptyDatabase()]
  onTestFinished(main.drop)
  onTestFinished(traces.drop)
  return { main, traces, store }
}

async function describeSide({ main, traces, store }: Side, endpoint: string): Promise<Installation> {
  const databases = { main: main.databaseUrl, tracing: traces.databaseUrl }
  return { ...installationOf(main, '/'), databases, artifacts: await createArtifactStore(store, { endpoint }) }
}

test('a bucket and a database of traces are restored into others', async () => {
  const s3 = await startS3Server()
  onTestFinished(s3.stop)
  Object.assign(process.env, s3.credentials)
  const open = ({ main, traces, store }: Side, key: string) => {
    const variables = {
      TRACING_DATABASE_URL: traces.databaseUrl,
      TRAINYARD_S3_ENDPOINT: s3.endpoint,
      ...s3.credentials,
    }
    return openBackupSide(stack, { database: main, store, key, env: variables })
  }
  const source = await makeSide(`s3://${s3.bucket}/source`, createTestDatabase)
  const key = await addKey(source.main.pool, 'team', 'admin')
  await new TrainingRows(source.main.pool).addModel('tests')
  const from = await open(source, key)
  await upload(from, 'data')
  // The apiserver answers before it has migrated the database of traces.
  const [first, ...rest] = planWrites('traced')
  await eventually(() => write(from, first!))
  for (const each of rest) await write(from, each)
  const calls = await readCalls(from)
  expect(calls.size).toBeGreaterThan(0)

  const folder = path.join(await makeFolder(), 'backup')
  await backUp(await describeSide(source, s3.endpoint), folder)
  const target = await makeSide(`s3://${s3.bucket}/target`, createEmptyDatabase)
  await restore(await describeSide(target, s3.endpoint), folder)
  expect(await describeSchema(target.traces.pool)).toEqual(await describeSchema(source.traces.pool))

  const restored = await open(target, key)
  expect(await readLists(restored)).toEqual(await readLists(from))
  expect(await readCalls(restored)).toEqual(calls)
  const file = '/v1/preview/artifacts/team/tests/data/files/a.jsonl'
  expect(await download(restored, file)).toBe(await download(from, file))
})
