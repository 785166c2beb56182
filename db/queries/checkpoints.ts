import type { Pool } from '../pool.ts'

export interface CheckpointRow {
  id: string
  step: number
  metrics: Record<string, unknown>
}

/** The step of a checkpoint of this model, a deleted one too; undefined when it never had such a checkpoint. */
export async function findCheckpointStep(pool: Pool, modelId: string, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ step: number }>(
    'SELECT step FROM training.checkpoints WHERE id = $2 AND model_id = $1',
    [modelId, id],
  )
  return rows[0]?.step
}

/** A page of a model's checkpoints by step, those behind `after` (a step) in the order that is asked for. */
export async function listCheckpoints(
  pool: Pool,
  modelId: string,
  page: { after: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<CheckpointRow[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<CheckpointRow>(
    `SELECT id, step, metrics FROM training.checkpoints
     WHERE model_id = $1 AND deleted_at IS NULL AND ($2::integer IS NULL OR step ${comparison} $2)
     ORDER BY step ${direction} LIMIT $3`,
    [modelId, page.after ?? null, page.limit],
  )
  return rows
}
