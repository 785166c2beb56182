import type { Pool } from '../pool.ts'

/** Checkpoints that are no longer their model's newest and may have optimizer state. */
export async function listExpiredOptimizers(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT c.id FROM training.checkpoints c
     WHERE c.deleted_at IS NULL AND c.optimizer_removed_at IS NULL AND EXISTS (
       SELECT FROM training.checkpoints n WHERE n.model_id = c.model_id AND n.step > c.step AND n.deleted_at IS NULL)
     LIMIT 500`,
  )
  return rows.map(({ id }) => id)
}

/** Records that the optimizer state of a checkpoint is removed. */
export async function markOptimizerRemoved(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET optimizer_removed_at = now() WHERE id = $1', [id])
}

/** How many of a model's newest steps keep the files of their statistics. */
const keptSteps = 10

/** Checkpoints whose statistics are not among those of their model's newest steps. */
export async function listExpiredStatistics(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT c.id FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
     WHERE c.statistics_digest IS NOT NULL AND c.deleted_at IS NULL AND c.step <= m.last_step - ${keptSteps}
     LIMIT 500`,
  )
  return rows.map(({ id }) => id)
}

/** Records that the file of a checkpoint's statistics is removed. The pushes stay. */
export async function markStatisticsRemoved(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET statistics_digest = NULL, statistics_bytes = NULL WHERE id = $1', [
    id,
  ])
}
