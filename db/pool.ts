import pg from 'pg'
import type { Logger } from '../lib/log.ts'

export type Pool = pg.Pool
export type Connection = Pick<pg.PoolClient, 'query'>

// int8 arrives as text by default; ours (positions, counts) stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

// A process that hangs in a transaction keeps its locks no longer than this: no work of ours pauses so long.
const idleTransactionMs = 60_000
// A stream's transaction waits while its client takes a portion of it, 16 MiB perhaps over a slow line.
const idleStreamMs = 10 * 60_000

/** By these the server notices within a minute that our machine has gone, and frees what it had locked; alone, hours later. */
export const serverKeepalives = '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3'

/** A pool of connections to Postgres. Idle connections that break are replaced, and said in the log. */
export function createPool(connectionString: string, log: Logger, max = 10, more: pg.PoolConfig = {}): Pool {
  const pool = new pg.Pool({
    idle_in_transaction_session_timeout: idleTransactionMs,
    ...more,
    options: `${serverKeepalives} ${more.options ?? ''}`,
    connectionString,
    max,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    // The server's limit does not help when nothing comes from the server any more.
    query_timeout: 35_000,
    keepAlive: true,
  })
  pool.on('error', (error) => log.warn({ error }, 'database connection lost'))
  // The pool gets no error of a connection that breaks while it is in use. The query fails, and without a listener the
  // process would end.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ error }, 'database connection broken')))
  return pool
}

const defaultParser: (oid: number) => (text: string) => unknown = pg.types.getTypeParser
const textTypes = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.JSON, (text) => text],
  [pg.types.builtins.TIMESTAMPTZ, presentInstant],
])

/**
 * A pool for traces, whose answers keep their text: `json` is a string, and a `timestamptz` an ISO text in UTC with
 * microseconds, which a Date does not have.
 */
export function createTracePool(connectionString: string, log: Logger, max: number): Pool {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: number) => textTypes.get(oid) ?? defaultParser(oid),
  }
  const options = '-c timezone=UTC -c datestyle=ISO'
  return createPool(connectionString, log, max, { types, options, idle_in_transaction_session_timeout: idleStreamMs })
}

/** `2026-01-31 12:00:00.12+00`, as Postgres writes it, as `2026-01-31T12:00:00.120000Z`. */
function presentInstant(text: string): string {
  const fraction = text.slice(20, -3)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(6, '0')}Z`
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
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
