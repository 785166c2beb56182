import { AsyncResource } from 'node:async_hooks'
import pg from 'pg'
import type { Logger } from '../lib/log.ts'
import type { Database, DatabaseUrl } from './address.ts'
import { connectionConfig } from './connection-config.ts'
import { CountingClient } from './count-rows.ts'
import { PooledClient } from './pooled-client.ts'
import { PreparingClient } from './preparing-client.ts'

export type Pool = CountingPool
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

type OnConnection = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void

/** A pool that counts how often somebody had to wait for a connection. */
export class CountingPool extends pg.Pool {
  waits = 0
  /** Connections that keep locks from one transaction to the next: behind a pooler in transaction mode, others. */
  sessions: pg.Pool = this

  override connect(): Promise<pg.PoolClient>
  override connect(callback: OnConnection): void
  override connect(callback?: OnConnection): Promise<pg.PoolClient> | void {
    // The pool assigns an idle connection a moment later. Until then, it still counts as idle.
    const free = this.idleCount + this.options.max - this.totalCount
    if (this.waitingCount >= free) this.waits++
    // Another request may be the one that releases the connection.
    return callback ? super.connect(AsyncResource.bind(callback)) : super.connect()
  }

  override async end(): Promise<void> {
    if (this.sessions !== this) await this.sessions.end()
    await super.end()
  }
}

/** Creates a pool of Postgres connections. Broken idle connections are logged and replaced. */
export function createPool(database: string | Database, log: Logger, max = 10, more: pg.PoolConfig = {}): CountingPool {
  const { url, directUrl } = typeof database === 'string' ? { url: database } : database
  if (directUrl === undefined) return openPool(log, { ...directConfig(url, more), max })
  const { idle_in_transaction_session_timeout: _, ...others } = more
  const pool = openPool(log, { ...others, ...connectionConfig(url), Client: PooledClient, max })
  pool.sessions = openPool(log, { ...directConfig(directUrl, more), max: maxSessions })
  return pool
}

/** A pooler would reject these limits, or apply them to whoever has the connection next: docs/postgres.md sets its own. */
function directConfig(url: DatabaseUrl, more: pg.PoolConfig): pg.PoolConfig {
  return {
    idle_in_transaction_session_timeout: idleTransactionMs,
    Client: PreparingClient,
    ...more,
    ...connectionConfig(url),
    options: serverKeepalives,
    statement_timeout: 30_000,
  }
}

function openPool(log: Logger, config: pg.PoolConfig): CountingPool {
  const pool = new CountingPool({
    connectionTimeoutMillis: 5_000,
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
export function createTracePool(database: string | Database, log: Logger, max: number): CountingPool {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: number) => textTypes.get(oid) ?? defaultParser(oid),
  }
  // Poolers keep these two for each of their clients. The pool waits for the promise, of which its types do not know.
  const onConnect: (client: pg.ClientBase) => unknown = (client) =>
    client.query("SET timezone = 'UTC'; SET datestyle = 'ISO'")
  // Clients of the API compose its statements. The frequent ones have names.
  const own = { Client: CountingClient, idle_in_transaction_session_timeout: idleStreamMs }
  return createPool(database, log, max, { types, onConnect, ...own })
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
    await client.query('BEGIN')
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
