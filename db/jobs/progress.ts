import { withTransaction, type Pool } from '../pool.ts'
import { lockAttempt } from './lock-attempt.ts'
import { leaseSeconds, type Attempt, type ReportOutcome } from './attempts.ts'

/** A complete save of a running job at `progress/<job>/<id>`. `digest` is the SHA-256 of its manifest. */
export interface ReportedProgress {
  id: string
  digest: string
  /** The number of finished gradient steps. */
  step: number
}

/** SQL: orders a job's saves `p` from newest to oldest. A late or repeated save is never the newest. */
export const newestProgressFirst = 'ORDER BY p.attempt DESC, p.step DESC, p.position DESC'

/** Records a save and renews the lease. */
export async function recordProgress(pool: Pool, attempt: Attempt, progress: ReportedProgress): Promise<ReportOutcome> {
  return withTransaction(pool, async (connection) => {
    const job = await lockAttempt(connection, attempt)
    if (!job?.holds) return 'fenced'
    await connection.query(
      `INSERT INTO training.job_progress (job_id, id, attempt, step, digest) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [job.id, progress.id, attempt.attempt, progress.step, progress.digest],
    )
    await connection.query(
      `UPDATE training.jobs SET reported_at = clock_timestamp(),
         lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
       WHERE id = $1`,
      [job.id],
    )
    return 'recorded'
  })
}

/** Saves of one job that nobody needs any more. */
export interface SpentProgress {
  jobId: string
  ids: string[]
  /** The job is trained or over: all its saves can be removed. */
  all: boolean
}

/** Lists the saves of jobs that are trained or over, and the saves that a newer one has replaced. */
export async function listSpentProgress(pool: Pool): Promise<SpentProgress[]> {
  const { rows } = await pool.query<SpentProgress>(
    `SELECT job_id AS "jobId", array_agg(id) AS ids, "all" FROM (
       SELECT p.job_id, p.id, j.state NOT IN ('Queued', 'Starting', 'Running') AS "all",
         row_number() OVER (PARTITION BY p.job_id ${newestProgressFirst}) AS age
       FROM training.job_progress p JOIN training.jobs j ON j.id = p.job_id) saved
     WHERE "all" OR age > 1 GROUP BY job_id, "all" LIMIT 200`,
  )
  return rows
}

/** Deletes the rows of saves whose files were removed. */
export async function deleteProgress(pool: Pool, jobId: string, ids: string[]): Promise<void> {
  await pool.query('DELETE FROM training.job_progress WHERE job_id = $1 AND id = ANY ($2)', [jobId, ids])
}

/**
 * Lists the jobs of a deleted model that may have saves: jobs with recorded saves, and jobs that a trainer held when
 * the model was deleted.
 */
export async function listSavingJobs(pool: Pool, modelId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT j.id FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     WHERE j.model_id = $1 AND (EXISTS (SELECT FROM training.job_progress p WHERE p.job_id = j.id)
       OR j.claimed_at IS NOT NULL AND j.finished_at > m.deleted_at - interval '1 hour')`,
    [modelId],
  )
  return rows.map(({ id }) => id)
}
