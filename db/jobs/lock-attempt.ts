import type { Connection } from '../pool.ts'
import type { Attempt, JobFailure } from './attempts.ts'
import type { JobWarning } from './warnings.ts'

/** A job as its newest attempt has it. */
export interface HeldJob {
  id: string
  modelId: string
  state: string
  checkpointId: string
  step: number
  failure: JobFailure | null
  creationWarnings: JobWarning[]
  trainingWarnings: JobWarning[]
  /** the attempt still holds it */
  holds: boolean
}

/** The job in this attempt, its row locked, and whether the attempt still holds it; undefined in any other attempt. */
export async function lockAttempt(connection: Connection, attempt: Attempt): Promise<HeldJob | undefined> {
  const { rows } = await connection.query<HeldJob>(
    `SELECT id, model_id AS "modelId", state, checkpoint_id AS "checkpointId", step, failure,
       creation_warnings AS "creationWarnings", training_warnings AS "trainingWarnings",
       coalesce(holder_pod = $3, false) AND state IN ('Starting', 'Running') AS holds
     FROM training.jobs WHERE id = $1 AND attempt = $2 FOR UPDATE`,
    [attempt.jobId, attempt.attempt, attempt.podUid],
  )
  return rows[0]
}
