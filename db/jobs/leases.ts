// Renews the leases of jobs that trainers hold.

import type { Pool } from '../pool.ts'
import { leaseSeconds, type Attempt } from './attempts.ts'
import { held } from './states.ts'

/**
 * Renews the lease of an attempt. Returns false if the attempt no longer holds the job. Returns true for a late renewal
 * after the checkpoint was recorded.
 */
export async function renewLease(pool: Pool, attempt: Attempt): Promise<boolean> {
  const { rowCount } = await pool.query(renewSql(`id = $1 AND attempt = $2 AND holder_pod = $3 AND state ${held}`), [
    attempt.jobId,
    attempt.attempt,
    attempt.podUid,
  ])
  if (rowCount) return true
  const trained = await pool.query(
    `SELECT FROM training.jobs
     WHERE id = $1 AND attempt = $2 AND holder_pod = $3 AND state IN ('Publishing', 'Succeeded')`,
    [attempt.jobId, attempt.attempt, attempt.podUid],
  )
  return trained.rowCount === 1
}

/** SQL: renews the leases of the jobs that a condition selects. */
export function renewSql(condition: string): string {
  return `UPDATE training.jobs SET lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    WHERE ${condition}`
}
