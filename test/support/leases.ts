import type { EndedLeases, InvalidatingConnection } from '../../db/changes.ts'
import * as endings from '../../db/jobs/endings.ts'
import { withTransaction, type Pool } from '../../db/pool.ts'
import type { Lease } from '../../lib/leased-cache.ts'

/** The lease of a process that nobody tells what changes. */
export const noLease: Lease = { isValid: () => false, renew: () => Promise.resolve(false) }

/** The lease of a process that gets all notifications. */
export const permanentLease: Lease = { isValid: () => true, renew: () => Promise.resolve(true) }

/** `withInvalidation` where no process has anything in memory. */
export function withoutLeases<T>(pool: Pool, work: (connection: InvalidatingConnection) => Promise<T>): Promise<T> {
  return withTransaction(pool, (connection) => work(connection as InvalidatingConnection))
}

/** Ends a trained job, where no gateway has an older step in memory. */
export function finishJob(pool: Pool, jobId: string): Promise<boolean> {
  return endings.finishJob(pool, jobId, {} as EndedLeases)
}
