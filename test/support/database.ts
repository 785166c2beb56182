import { randomUUID } from 'node:crypto'
import { migrate } from '../../db/migrate.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { useStack } from './stack.ts'

/** A migrated database of a test file's own, on the stack's Postgres. */
export interface TestDatabase {
  databaseUrl: string
  pool: Pool
  /** Ends the pool and drops the database. */
  drop: () => Promise<void>
}

const log = createLogger('test', 'silent')

/** Makes one; call it in `beforeAll`, and `drop` in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase()
  await migrate(database.databaseUrl, log)
  await migrate(database.databaseUrl, log, 'tracing')
  return database
}

/** The same without any tables. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const serverUrl = useStack().databaseUrl
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runOnServer(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const pool = createPool(url.href, log, 30)
  const drop = async () => {
    await pool.end()
    await runOnServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
  }
  return { databaseUrl: url.href, pool, drop }
}

async function runOnServer(serverUrl: string, statement: string): Promise<void> {
  const pool = createPool(serverUrl, log, 1)
  try {
    await pool.query(statement)
  } finally {
    await pool.end()
  }
}
