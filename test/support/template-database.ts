import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'

export const log = createLogger('test', 'silent')

/** It is migrated once for all test files. A copy of it is cheaper than the migrations. */
export const templateDatabase = 'test_template'

/** Creates the template of the test files' databases. Postgres can only copy it while it has no connections. */
export async function createTemplateDatabase(serverUrl: string): Promise<void> {
  await runOnServer(serverUrl, `CREATE DATABASE ${templateDatabase}`)
  const databaseUrl = nameDatabase(serverUrl, templateDatabase)
  await migrate(databaseUrl, log)
  await migrate(databaseUrl, log, 'tracing')
}

/** The address of another database of the same server. */
export function nameDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function runOnServer(serverUrl: string, statement: string): Promise<void> {
  const pool = createPool(serverUrl, log, 1)
  try {
    await pool.query(statement)
  } finally {
    await pool.end()
  }
}
