import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Connection } from '../pool.ts'
import type { Attempt } from './attempts.ts'
import { held } from './states.ts'
import { jobColumns } from './table.ts'

const columns = pickColumns(
  jobColumns,
  'id',
  'modelId',
  'state',
  'checkpointId',
  'step',
  'failure',
  'creationWarnings',
  'trainingWarnings',
)

/** A job and its newest attempt. A claim sets the checkpoint and the step that the attempt will make. */
export interface HeldJob extends RowOf<typeof columns> {
  checkpointId: string
  step: number
  /** Whether the attempt still holds the job. */
  holds: boolean
}

/** Locks a job's row if this is its newest attempt. Returns undefined for any other attempt. */
export async function lockAttempt(connection: Connection, attempt: Attempt): Promise<HeldJob | undefined> {
  const { rows } = await connection.query<HeldJob>(
    `SELECT ${selectColumns(columns, 'j')},
       coalesce(j.holder_pod = $3, false) AND j.state ${held} AS holds
     FROM training.jobs j WHERE j.id = $1 AND j.attempt = $2 FOR UPDATE`,
    [attempt.jobId, attempt.attempt, attempt.podUid],
  )
  return rows[0]
}
