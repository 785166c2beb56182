import pg from 'pg'
import type { Logger } from '../lib/log.ts'
import type { Database, DatabaseUrl } from './address.ts'
import { connectionConfig } from './connection-config.ts'
import { CountingClient } from './count-rows.ts'
import { FairPool, type FairPoolConfig } from './fair-pool.ts'
import { PooledClient } from './pooled-client.ts'
import { PreparingClient } from './preparing-client.ts'

export type Pool = FairPool
export type Connection = Pick<pg.PoolClient, 'query'>

// The driver returns int8 as text by default. Our values (positions, counts) stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

// A process that hangs in a transaction releases its locks after this time. No work of ours pauses this long.
const idleTransactionMs = 60_000
// Maintenance locks a key of the store for a session, and few keys at a time.
const maxSessions = 2
// The transaction of a stream waits while its client receives a portion, perhaps 16 MiB over a slow line.
const idleStreamMs = 10 * 60_000

/**
 * With these, the server notices within a minute that our machine is gone, and releases its locks. The default takes
 * hours.
 */
export const serverKeepalives = '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3'

/** For work that nobody waits for, and of which more runs at once than there are connections. */
export const patience: pg.PoolConfig = { connectionTimeoutMillis: 60_000 }

/**
 * How long one statement may run, by its class: a filter that a user composes for a list of runs, a request, and
 * everything else. A stream of traces has several statements.
 */
export const statementLimitsMs = { filter: 2_000, request: 10_000, background: 30_000 }

/**
 * For requests of users. A statement that waits for a lock fails as if the database was unavailable, before it counts
 * as a statement that is too expensive.
 */
export const forRequests: FairPoolConfig = {
  isShared: true,
  statement_timeout: statementLimitsMs.request,
  lock_timeout: statementLimitsMs.request - 2_000,
}

/** For requests about traces, whose users compose their queries. */
export const forTraces: FairPoolConfig = { isShared: true }

/** Creates a pool of Postgres connections. Broken idle connections are logged and replaced. */
export function createPool(database: string | Database, log: Logger, max = 10, more: FairPoolConfig = {}): FairPool {
  const { url, directUrl } = typeof database === 'string' ? { url: database } : database
  if (directUrl === undefined) return openPool(log, { ...directConfig(url, more), max })
  const pool = openPool(log, { ...omitLimits(more), ...connectionConfig(url), Client: PooledClient, max })
  pool.begin = beginLimited(more)
  pool.sessions = openPool(log, { ...directConfig(directUrl, more), max: maxSessions })
  return pool
}

/** A pooler would reject these limits, or apply them to whoever has the connection next: docs/postgres.md sets its own. */
function omitLimits(config: FairPoolConfig): FairPoolConfig {
  const { idle_in_transaction_session_timeout: _, statement_timeout: __, lock_timeout: ___, ...others } = config
  return others
}

/** A pooler takes limits within a transaction. */
function beginLimited({ statement_timeout: statementMs, lock_timeout: lockMs }: FairPoolConfig): string {
  if (statementMs === undefined) return 'BEGIN'
  return `BEGIN; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs ?? 0}`
}

function directConfig(url: DatabaseUrl, more: FairPoolConfig): FairPoolConfig {
  return {
    idle_in_transaction_session_timeout: idleTransactionMs,
    statement_timeout: statementLimitsMs.background,
    Client: PreparingClient,
    ...more,
    ...connectionConfig(url),
    options: serverKeepalives,
  }
}

function openPool(log: Logger, config: FairPoolConfig): FairPool {
  const pool = new FairPool({
    ...config,
    // The server's own time limit does not help if the server has stopped answering.
    query_timeout: 35_000,
    keepAlive: true,
  })
  pool.on('error', (error) => log.warn({ error }, 'database connection lost'))
  // A connection that breaks while it is in use reports its error here, not to the pool. Its query fails. Without a
  // listener the process would end.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ error }, 'database connection broken')))
  return pool
}

const defaultParser: (oid: number) => (text: string) => unknown = pg.types.getTypeParser
const textTypes = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.JSON, (text) => text],
  [pg.types.builtins.TIMESTAMPTZ, presentInstant],
])

/**
 * Creates a pool for traces. Its rows keep their text: `json` is a string, and `timestamptz` is an ISO text in UTC with
 * microseconds, which a Date cannot hold.
 */
export function createTracePool(
  database: string | Database,
  log: Logger,
  max: number,
  more: FairPoolConfig = {},
): FairPool {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: number) => textTypes.get(oid) ?? defaultParser(oid),
  }
  // Poolers keep these two for each of their clients. The pool waits for the promise, of which its types do not know.
  const onConnect: (client: pg.ClientBase) => unknown = (client) =>
    client.query("SET timezone = 'UTC'; SET datestyle = 'ISO'")
  // Clients of the API compose its statements. The frequent ones have names.
  const own = { Client: CountingClient, idle_in_transaction_session_timeout: idleStreamMs }
  return createPool(database, log, max, { types, onConnect, ...own, ...more })
}

/** Converts `2026-01-31 12:00:00.12+00`, the form of Postgres, to `2026-01-31T12:00:00.120000Z`. */
function presentInstant(text: string): string {
  const fraction = text.slice(20, -3)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(6, '0')}Z`
}

/** Runs `work` in one transaction. Commits when it returns, rolls back when it throws. */
export async function withTransaction<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(pool.begin)
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: Error) => (broken = rollbackError))
    throw error
  } finally {
    client.release(broken)
  }
}
