import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateTo, migrateWhenReady } from '../../db/migrate.ts'
import { createLogger } from '../../lib/log.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const log = createLogger('test', 'silent')
let database: TestDatabase
beforeAll(async () => {
  database = await createEmptyDatabase()
  await migrateTo(database.databaseUrl, log, 'main', ['0001_auth'])
})
afterAll(() => database?.drop())

test('a migration that waits for a long query makes no others wait, and ends after the query', async () => {
  const { pool, databaseUrl } = database
  // The second migration adds triggers to it, and for that waits until nobody writes.
  const table = 'auth.entities'
  const user = await pool.connect()
  try {
    await user.query(`BEGIN; INSERT INTO ${table} (entity) VALUES ('a')`)
    const end = { migrated: false }
    const migrating = migrateWhenReady(databaseUrl, log).then(() => (end.migrated = true))
    await eventually(async () => {
      const { rowCount } = await pool.query('SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass', [
        table,
      ])
      expect(rowCount).toBe(1)
    })
    // It is behind the migration in the queue, and is answered while the first query still runs.
    await pool.query(`INSERT INTO ${table} (entity) VALUES ('b')`)
    expect(end.migrated).toBe(false)
    await user.query('COMMIT')
    await migrating
  } finally {
    user.release()
  }
  await database.pool.query('SELECT FROM training.jobs')
})
