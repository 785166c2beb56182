import type { Connection } from '../pool.ts'

/** The type of the events of gradient steps. */
export const stepType = 'gradient_step'

/** Locks the number of a model's gradient steps, and returns it. */
export async function lockStepCount(connection: Connection, modelId: string): Promise<number> {
  const { rows } = await connection.query<{ count: number }>(
    `INSERT INTO training.metric_heads AS h (model_id) VALUES ($1)
     ON CONFLICT (model_id) DO UPDATE SET count = h.count RETURNING count`,
    [modelId],
  )
  return rows[0]!.count
}

/** Counts the gradient steps that were added to a model, and writes the buckets that they complete. */
export async function countSteps(
  connection: Connection,
  { modelId, earlier, added }: { modelId: string; earlier: number; added: number },
): Promise<void> {
  if (added === 0) return
  const values = [modelId, earlier, earlier + added]
  await connection.query('UPDATE training.metric_heads SET count = $2 WHERE model_id = $1', [modelId, earlier + added])
  await connection.query('SELECT training.fill_metric_buckets($1, $2, $3)', values)
}
