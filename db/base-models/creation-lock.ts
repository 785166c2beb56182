import { withTransaction, type Pool } from '../pool.ts'

/** Runs work that creates base models on request. Of all processes, one at a time does, so that they can be counted. */
export function withCreationLock<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  return withTransaction(pool, async (connection) => {
    await connection.query("SELECT pg_advisory_xact_lock(hashtextextended('base models made on request', 0))")
    return work()
  })
}
