import { fileURLToPath } from 'node:url'
import type { Pool } from '../../../db/pool.ts'
import { childEnvironment } from '../../../local/config.ts'
import { findFreePort } from '../../support/free-port.ts'
import { withContestant, type Contestant } from './contestant.ts'
import { makeTable, singleTable } from './table.ts'

/** Runs a server that stores each call with its own INSERT: the simplest way with Node and Postgres. */
export async function withSingleServer<T>(
  { pool, databaseUrl }: { pool: Pool; databaseUrl: string },
  work: (single: Contestant) => Promise<T>,
): Promise<T> {
  await makeTable(pool, singleTable)
  const port = await findFreePort()
  const script = fileURLToPath(import.meta.resolve('./single-server.ts'))
  const how = {
    command: process.execPath,
    args: [script, String(port), databaseUrl],
    env: childEnvironment({}),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/',
  }
  return withContestant(how, work)
}
