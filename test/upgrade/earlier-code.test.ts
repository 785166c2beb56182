import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, startApiServer } from '../support/api-server.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { checkOutEarlierCode } from '../support/earlier-code.ts'
import { eventually } from '../support/eventually.ts'
import { createBaseModel, runMainJob, startControlPlane } from '../support/control-plane.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken } from '../support/status-server.ts'

const stack = useStack()
const log = createLogger('test', 'silent')
const namespace = `upgrade-${randomUUID().slice(0, 8)}`
const baseModel = `${namespace}/base`
test('the code before the newest migration works on the new schema, also after a rollback', async ({ skip }) => {
  const shallow = 'the clone is shallow: it has no commit before the newest migration (git fetch --unshallow)'
  const earlier = (await checkOutEarlierCode()) ?? skip(shallow)
  onTestFinished(earlier.remove)
  const { pool, databaseUrl, drop } = await createEmptyDatabase()
  onTestFinished(drop)
  await createBaseModel(stack, { namespace, baseModel })
  const isMigrated = async () => {
    const { rows } = await pool.query<{ name: string }>(
      'SELECT name FROM migrations UNION SELECT name FROM tracing_migrations',
    )
    return rows.some(({ name }) => name === path.parse(earlier.migration).name)
  }
  // The earlier code migrates the empty database; the key is made in its schema.
  const first = await startApiServer(stack, databaseUrl, {}, ([node]) => [
    node,
    path.join(earlier.root, 'apiserver/main.ts'),
  ])
  await eventually(async () => expect((await fetch(`${first.url}/v1/ready`)).status).toBe(200))
  await first.remove()
  expect(await isMigrated()).toBe(false)
  const key = await addKey(pool, 'acme', 'admin')

  const settings = { databaseUrl, key, namespace, baseModel }
  const before = await startControlPlane(stack, { ...settings, root: earlier.root })
  const token = await makeTrainerToken(stack, namespace)
  await runMainJob(before, token)
  await migrate(databaseUrl, log)
  await migrate(databaseUrl, log, 'tracing')
  expect(await isMigrated()).toBe(true)
  await runMainJob(before, token)
  await before.stop()

  const today = await startControlPlane(stack, settings)
  await runMainJob(today, token)
  await today.stop()

  const rolledBack = await startControlPlane(stack, { ...settings, root: earlier.root })
  await runMainJob(rolledBack, token)
})
