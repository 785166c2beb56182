import type { Pool } from '../pool.ts'

/** Records why a job with pods of its own waits, as far as its pods tell; null if they only need time. */
export async function recordWaitingReason(pool: Pool, jobId: string, reason: string | null): Promise<void> {
  await pool.query('UPDATE training.jobs SET waiting_reason = $2 WHERE id = $1', [jobId, reason])
}
