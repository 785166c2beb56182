// Moves jobs from Pending to Queued.

import type { Pool } from '../pool.ts'

/** Moves a job from Pending to Queued: a trainer may claim it from now on. */
export async function queueJob(pool: Pool, id: string): Promise<void> {
  await pool.query(
    `UPDATE training.jobs SET state = 'Queued', queued_at = clock_timestamp(),
       resource_created_at = coalesce(resource_created_at, now())
     WHERE id = $1 AND state = 'Pending'`,
    [id],
  )
}
