import type { Pool } from '../pool.ts'
import type { Attempt, ReportOutcome } from './attempts.ts'

// One statement must end well within its time limit.
const rowsAtOnce = 10_000

/** Which token statistics of an entity are stored. */
export type TokenStatisticsSetting = 'off' | 'sampled' | 'all'

/** A trainer's report on a trained job: its file, if it wrote one, and the push of each trained trajectory. */
export interface ReportedStatistics {
  file: { checkpointId: string; digest: string; bytes: number } | null
  /** Keys are `group/trajectory`. */
  pushes: Record<string, number>
}

/**
 * Writes the pushes into the index rows of the job's trajectories (0 for those without a report) and records the file.
 * Only the attempt that made the job's checkpoint can report, while the checkpoint is not deleted. A second report
 * changes nothing.
 *
 * The job can end meanwhile, because no lock is held while the rows are written. An interrupted caller repeats the
 * report.
 */
export async function recordTokenStatistics(
  pool: Pool,
  attempt: Attempt,
  { file, pushes }: ReportedStatistics,
): Promise<ReportOutcome> {
  const checkpoint = await findTrained(pool, attempt)
  if (!checkpoint || (file && file.checkpointId !== checkpoint.id)) return 'fenced'
  if (checkpoint.isReported) return 'recorded'
  await writePushes(pool, attempt.jobId, pushes)
  const { rowCount } = await pool.query(
    `UPDATE training.checkpoints SET statistics_at = clock_timestamp(), statistics_digest = $2, statistics_bytes = $3
     WHERE id = $1 AND deleted_at IS NULL`,
    [checkpoint.id, file?.digest ?? null, file?.bytes ?? null],
  )
  return rowCount === 1 ? 'recorded' : 'fenced'
}

async function findTrained(pool: Pool, attempt: Attempt): Promise<{ id: string; isReported: boolean } | undefined> {
  const { rows } = await pool.query<{ id: string; isReported: boolean }>(
    `SELECT c.id, c.statistics_at IS NOT NULL AS "isReported"
     FROM training.jobs j JOIN training.checkpoints c ON c.id = j.checkpoint_id AND c.job_id = j.id
     WHERE j.id = $1 AND j.attempt = $2 AND j.holder_pod = $3 AND c.deleted_at IS NULL`,
    [attempt.jobId, attempt.attempt, attempt.podUid],
  )
  return rows[0]
}

async function writePushes(pool: Pool, jobId: string, pushes: Record<string, number>): Promise<void> {
  const json = JSON.stringify(pushes)
  for (let written = rowsAtOnce; written === rowsAtOnce;) {
    const { rowCount } = await pool.query(
      `UPDATE training.trajectories SET
         push = coalesce(($2::jsonb ->> (group_index || '/' || trajectory_index))::double precision, 0)
       WHERE id IN (SELECT id FROM training.trajectories WHERE job_id = $1 AND push IS NULL
                    ORDER BY position LIMIT ${rowsAtOnce})`,
      [jobId, json],
    )
    written = rowCount ?? 0
  }
}
