import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateWhenReady } from '../../db/migrate.ts'
import { createLogger } from '../../lib/log.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { migrateBefore } from '../support/migrate-before.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createEmptyDatabase()
  await migrateBefore(database.databaseUrl, '0033_base_model_starts')
})
afterAll(() => database?.drop())

test('a migration that waits for a long query makes no others wait, and ends after the query', async () => {
  const { pool, databaseUrl } = database
  const table = 'training.base_model_sources'
  const user = await pool.connect()
  try {
    await user.query(`BEGIN; SELECT FROM ${table}`)
    const end = { migrated: false }
    const migrating = migrateWhenReady(databaseUrl, createLogger('test', 'silent')).then(() => (end.migrated = true))
    await eventually(async () => {
      const { rowCount } = await pool.query('SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass', [
        table,
      ])
      expect(rowCount).toBe(1)
    })
    // It is behind the migration in the queue, and is answered while the first query still runs.
    await pool.query(`SELECT FROM ${table}`)
    expect(end.migrated).toBe(false)
    await user.query('COMMIT')
    await migrating
  } finally {
    user.release()
  }
  await database.pool.query(`SELECT untrained_layers FROM ${table}`)
})
