// Suspends jobs that have pods of their own, and resumes them.

import type { Pool } from '../pool.ts'
import { unfinished, untrained } from './states.ts'

/** Asks for a suspension or its end. Returns false for a job that is trained or has ended. */
export async function askToSuspend(pool: Pool, jobId: string, suspend: boolean): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE training.jobs SET suspend_asked = $2 WHERE id = $1 AND state ${untrained}`,
    [jobId, suspend],
  )
  return rowCount === 1
}

/** Records what the resource of a job wants. It answers what was asked when the caller read the job. */
export async function wantSuspended(
  pool: Pool,
  jobId: string,
  { suspend, asked }: { suspend: boolean; asked: boolean | null },
): Promise<void> {
  await pool.query(
    `UPDATE training.jobs SET suspend = $2,
       suspend_asked = CASE WHEN suspend_asked IS DISTINCT FROM $3 THEN suspend_asked END
     WHERE id = $1 AND state ${unfinished}`,
    [jobId, suspend, asked],
  )
}

/** Records that a job that is to be suspended has no pods any more. From then on, no deadline passes. */
export async function markSuspended(pool: Pool, jobId: string): Promise<void> {
  await pool.query(
    `UPDATE training.jobs SET suspended_at = clock_timestamp()
     WHERE id = $1 AND state = 'Queued' AND suspend AND suspended_at IS NULL`,
    [jobId],
  )
}

/** Lets a suspended job have pods again. It keeps its place in the order of its model. */
export async function resumeJob(pool: Pool, jobId: string): Promise<void> {
  await pool.query(
    `UPDATE training.jobs SET suspended_at = NULL,
       suspended_seconds = suspended_seconds + extract(epoch FROM clock_timestamp() - suspended_at)
     WHERE id = $1 AND NOT suspend AND suspended_at IS NOT NULL`,
    [jobId],
  )
}
