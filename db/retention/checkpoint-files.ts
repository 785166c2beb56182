import type { Pool } from '../pool.ts'

/** Lists checkpoints that are not their model's newest and may have optimizer state. */
export async function listExpiredOptimizers(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT c.id FROM training.checkpoints c
     WHERE c.deleted_at IS NULL AND c.optimizer_removed_at IS NULL AND EXISTS (
       SELECT FROM training.checkpoints n WHERE n.model_id = c.model_id AND n.step > c.step AND n.deleted_at IS NULL)
     LIMIT 500`,
  )
  return rows.map(({ id }) => id)
}

/** Records that the optimizer states of checkpoints were removed. */
export async function markOptimizersRemoved(pool: Pool, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await pool.query('UPDATE training.checkpoints SET optimizer_removed_at = now() WHERE id = ANY ($1)', [ids])
}

/** The number of a model's newest steps that keep their statistics. */
export const keptSteps = 10

/** Lists checkpoints with statistics that are not among their model's newest steps. */
export async function listExpiredStatistics(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT c.id FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
     WHERE c.statistics_digest IS NOT NULL AND c.deleted_at IS NULL AND c.step <= m.last_step - ${keptSteps}
     LIMIT 500`,
  )
  return rows.map(({ id }) => id)
}

/** Records that the statistics file of a checkpoint was removed. The pushes stay. */
export async function markStatisticsRemoved(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET statistics_digest = NULL, statistics_bytes = NULL WHERE id = $1', [
    id,
  ])
}
