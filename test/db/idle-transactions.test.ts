import { expect, test } from 'vitest'
import { createPool, createTracePool, patience, withTransaction, type Pool } from '../../db/pool.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { createLogger } from '../../lib/log.ts'
import { useTestDatabase } from '../support/database.ts'

const log = createLogger('test', 'silent')
const database = useTestDatabase()

const settings = ['idle_in_transaction_session_timeout', 'statement_timeout', 'tcp_keepalives_idle', 'TimeZone']

async function readSettings(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ setting: string }>(
    'SELECT current_setting(name) AS setting FROM unnest($1::text[]) AS name',
    [settings],
  )
  await pool.end()
  return rows.map(({ setting }) => setting)
}

test('every pool limits statements, idle transactions and silent connections', async () => {
  const main = await readSettings(createPool(database.databaseUrl, log, 1))
  expect(main.slice(0, 3)).toEqual(['1min', '30s', '30'])
  expect(await readSettings(createTracePool(database.databaseUrl, log, 1))).toEqual(['10min', '30s', '30', 'UTC'])
})

test('an idle transaction loses its locks, and its request fails as with an unavailable database', async () => {
  const pool = createPool(database.databaseUrl, log, 1, { idle_in_transaction_session_timeout: 200 })
  const lock = "SELECT pg_advisory_xact_lock(hashtext('still'))"
  const { promise: free, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>()
  const still = withTransaction(pool, async (connection) => {
    await connection.query(lock)
    hasLocked()
    await free
    await connection.query('SELECT 1')
  }).catch((error: unknown) => error)
  await locked
  await withTransaction(database.pool, (connection) => connection.query(lock))
  release()
  expect(isDatabaseUnavailable(await still)).toBe(true)
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

test("the operator's work waits for a connection, and does not fail, while slow queries have them all", async () => {
  const pool = createPool(database.databaseUrl, log, 1, patience)
  const work = Array.from({ length: 3 }, () => pool.query('SELECT pg_sleep(2.6)'))
  expect(await Promise.all(work)).toHaveLength(3)
  await pool.end()
})
