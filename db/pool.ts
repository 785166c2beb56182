import pg from 'pg'
import type { Logger } from '../lib/log.ts'

export type Pool = pg.Pool
export type Connection = Pick<pg.PoolClient, 'query'>

// int8 arrives as text by default; ours (positions, counts) stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** A pool of connections to Postgres. Idle connections that break are replaced, and said in the log. */
export function createPool(connectionString: string, log: Logger, max = 10): Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    // The server's limit does not help when nothing comes from the server any more.
    query_timeout: 35_000,
    keepAlive: true,
  })
  pool.on('error', (error) => log.warn({ error }, 'database connection lost'))
  return pool
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
