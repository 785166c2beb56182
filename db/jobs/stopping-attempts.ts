// Attempts that were ended from outside. Their trainers may compute until they learn of it, and hold their GPUs.

import type { Connection, Pool } from '../pool.ts'
import type { Attempt } from './attempts.ts'
import { held } from './states.ts'

/** An attempt whose trainer has not said that it has dropped the job. */
export interface StoppingAttempt {
  /** The uid of the trainer's pod. */
  pod: string
  claimedAt: string
  since: string
}

/** SQL: the stopping attempts of a job, as JSON. */
export const stoppingAttempts = (job: string): string =>
  `(SELECT coalesce(json_agg(json_build_object('pod', s.pod, 'claimedAt', s.claimed_at, 'since', s.stopping_since)), '[]')
    FROM training.job_attempts s WHERE s.job_id = ${job}.id AND s.stopping_since IS NOT NULL)`

/** Records that a trainer works on the job that is ended now. Call it before the job's row changes, with the row locked. */
export async function markStopping(connection: Connection, jobId: string): Promise<void> {
  await connection.query(
    `UPDATE training.job_attempts a SET stopping_since = clock_timestamp() FROM training.jobs j
     WHERE j.id = $1 AND j.state ${held} AND a.job_id = j.id AND a.attempt = j.attempt`,
    [jobId],
  )
}

// The job's status in Kubernetes waits for it.
const drop = (condition: string) => `UPDATE training.job_attempts SET stopping_since = NULL
  WHERE stopping_since IS NOT NULL AND ${condition} RETURNING pg_notify('training_jobs', job_id::text)`

/** SQL for a WITH clause: a pod ($1) claims a job, and works on no others than those of a list ($3) and those it gets. */
export const dropOthers = drop('pod = $1 AND job_id <> ALL ($3::uuid[])')

/** Records that a trainer has dropped the job of an attempt. Any later report of it is about nothing. */
export async function recordDrop(pool: Pool, { jobId, attempt, podUid }: Attempt): Promise<void> {
  await pool.query(drop('job_id = $1 AND attempt = $2 AND pod = $3'), [jobId, attempt, podUid])
}
