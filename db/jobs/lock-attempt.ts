import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Connection } from '../pool.ts'
import type { Attempt } from './attempts.ts'
import { held } from './states.ts'
import { jobColumns } from './table.ts'

const columns = pickColumns(
  jobColumns,
  'id',
  'modelId',
  'method',
  'state',
  'checkpointId',
  'step',
  'failure',
  'creationWarnings',
  'trainingWarnings',
)

/** What a client says about the metrics of its SFT job. */
export interface MetricLogging {
  enabled?: boolean | null
  /** The step of the model that the rows of its run belong to. */
  target_training_step?: number | null
}

/** A job and its newest attempt. A claim sets the checkpoint and the step that the attempt will make. */
export interface HeldJob extends RowOf<typeof columns> {
  checkpointId: string
  step: number
  /** Whether the attempt still holds the job. */
  holds: boolean
  metricLogging: MetricLogging | null
}

/** Locks a job's row if this is its newest attempt. Returns undefined for any other attempt. */
export async function lockAttempt(connection: Connection, attempt: Attempt): Promise<HeldJob | undefined> {
  const { rows } = await connection.query<HeldJob>(
    `SELECT ${selectColumns(columns, 'j')},
       coalesce(j.holder_pod = $3, false) AND j.state ${held} AS holds, j.config->'metric_logging' AS "metricLogging"
     FROM training.jobs j WHERE j.id = $1 AND j.attempt = $2 FOR UPDATE`,
    [attempt.jobId, attempt.attempt, attempt.podUid],
  )
  return rows[0]
}
