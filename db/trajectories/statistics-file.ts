import type { JobState } from '../../crds/job-states.ts'
import type { Pool } from '../pool.ts'

/** What is known of the token statistics of a job. */
export interface StatisticsFile {
  state: JobState
  /** Whether its trainer has reported them, with a file or without one. */
  isReported: boolean
  /** Whether its checkpoint is deleted. */
  isDeleted: boolean
  checkpointId: string | null
  step: number | null
  /** The size of the file; null if there is none, or not any more. */
  bytes: number | null
  /** How many steps the model has made since. */
  laterSteps: number | null
}

/** Finds the token statistics of a job of a model. */
export async function findStatisticsFile(pool: Pool, modelId: string, jobId: string): Promise<StatisticsFile> {
  const { rows } = await pool.query<StatisticsFile>(
    `SELECT j.state, coalesce(c.statistics_at IS NOT NULL, false) AS "isReported",
       coalesce(c.deleted_at IS NOT NULL, false) AS "isDeleted", c.id AS "checkpointId", c.step,
       CASE WHEN c.statistics_digest IS NOT NULL THEN c.statistics_bytes END AS bytes, m.last_step - c.step AS "laterSteps"
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     LEFT JOIN training.checkpoints c ON c.job_id = j.id AND c.model_id = j.model_id
     WHERE j.id = $2 AND j.model_id = $1`,
    [modelId, jobId],
  )
  return rows[0]!
}
