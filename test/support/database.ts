import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { useServices } from './services.ts'
import { log, nameDatabase, runOnServer, templateDatabase } from './template-database.ts'

/** A migrated database for one test file, on the stack's Postgres. */
export interface TestDatabase {
  databaseUrl: string
  pool: Pool
  /** Ends the pool and drops the database. */
  drop: () => Promise<void>
}

/** Creates a database before a test file's tests, and drops it after them. It has its fields when the tests run. */
export function useTestDatabase(): TestDatabase {
  const database = {} as TestDatabase
  beforeAll(async () => void Object.assign(database, await createTestDatabase()))
  afterAll(() => database.drop?.())
  return database
}

/** Creates a database for one test, which drops it. */
export function createTestDatabase(): Promise<TestDatabase> {
  return copyDatabase(templateDatabase)
}

/** Creates a database without tables, on the stack's Postgres or on that of a cluster of the test's own. */
export function createEmptyDatabase(serverUrl?: string): Promise<TestDatabase> {
  return copyDatabase('template1', serverUrl)
}

async function copyDatabase(source: string, serverUrl = useServices().databaseUrl): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runOnServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${source}`)
  const databaseUrl = nameDatabase(serverUrl, name)
  const pool = createPool(databaseUrl, log, 30)
  const drop = async () => {
    await pool.end()
    await runOnServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
  }
  return { databaseUrl, pool, drop }
}
