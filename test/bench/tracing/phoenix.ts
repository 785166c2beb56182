import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createPool, type Pool } from '../../../db/pool.ts'
import { createLogger } from '../../../lib/log.ts'
import { childEnvironment } from '../../../local/config.ts'
import { ensureBenchPython } from '../../support/client-python.ts'
import { findFreePort } from '../../support/free-port.ts'
import { withProgram, type Program } from '../program.ts'

const database = 'phoenix'
const pollEveryMs = 100
const log = createLogger('bench', 'silent')

export interface Phoenix extends Program {
  /** Waits until the database has this many more spans than at the last call. Phoenix answers before it stores. */
  waitForSpans: (count: number) => Promise<void>
}

/** Runs Arize Phoenix on its own database of the same Postgres, without other network access. */
export async function withPhoenix<T>(serverUrl: string, work: (phoenix: Phoenix) => Promise<T>): Promise<T> {
  const python = await ensureBenchPython('phoenix')
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-phoenix-'))
  const databaseUrl = await makeDatabase(serverUrl)
  const [port, grpcPort] = [await findFreePort(), await findFreePort()]
  const pool = createPool(databaseUrl, log, 1)
  const how = {
    command: python,
    args: ['-m', 'phoenix.server.main', 'serve'],
    env: childEnvironment({
      ...settings,
      HOME: folder,
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpcPort),
      PHOENIX_SQL_DATABASE_URL: databaseUrl.replace(/^postgres:/, 'postgresql:'),
    }),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/healthz',
  }
  try {
    return await withProgram(how, (found) => work({ ...found, waitForSpans: createWaiter(pool) }))
  } finally {
    await pool.end()
    await rm(folder, { recursive: true, force: true })
  }
}

// Everything that would leave the machine, or run beside the store, is switched off.
const settings = {
  PHOENIX_TELEMETRY_ENABLED: 'false',
  PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
  PHOENIX_DISABLE_AGENT_ASSISTANT: 'true',
  PHOENIX_AGENTS_DISABLE_WEB_ACCESS: 'true',
  PHOENIX_ENABLE_MCP_SERVER: 'false',
  PHOENIX_LOGGING_LEVEL: 'warning',
}

async function makeDatabase(serverUrl: string): Promise<string> {
  const pool = createPool(serverUrl, log, 1)
  await pool.query(`CREATE DATABASE ${database}`)
  await pool.end()
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

function createWaiter(pool: Pool): Phoenix['waitForSpans'] {
  let stored = 0
  return async (count) => {
    stored += count
    // This query is cheap, so that it does not affect the measurement.
    while ((await readNumber(pool, 'SELECT coalesce(max(id), 0) AS number FROM spans')) < stored)
      await delay(pollEveryMs)
    const found = await readNumber(pool, 'SELECT count(*) AS number FROM spans')
    if (found !== stored) throw new Error(`Phoenix stored ${found} spans of ${stored}`)
  }
}

async function readNumber(pool: Pool, statement: string): Promise<number> {
  const { rows } = await pool.query<{ number: number }>(statement)
  return rows[0]!.number
}
