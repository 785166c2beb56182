import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** The type of the events of gradient steps. */
export const stepType = 'gradient_step'

/** Locks the number of a model's gradient steps, and returns it. Those of an earlier version are numbered first. */
export async function lockStepCount(connection: Connection, modelId: string): Promise<number> {
  const { rows } = await connection.query<{ count: number; isNew: boolean }>(
    `INSERT INTO training.metric_heads AS h (model_id) VALUES ($1)
     ON CONFLICT (model_id) DO UPDATE SET count = h.count RETURNING count, xmax = 0 AS "isNew"`,
    [modelId],
  )
  const { count, isNew } = rows[0]!
  return isNew ? numberEarlierSteps(connection, modelId) : count
}

async function numberEarlierSteps(connection: Connection, modelId: string): Promise<number> {
  const { rowCount } = await connection.query(
    `UPDATE training.events e SET model_id = $1, model_step = n.step, model_index = n.index
     FROM (
       SELECT e.id, coalesce(j.step, 0) AS step, row_number() OVER (ORDER BY j.arrival, e.seq) - 1 AS index
       FROM training.jobs j JOIN training.events e ON e.job_id = j.id
       WHERE j.model_id = $1 AND e.type = '${stepType}' AND e.model_index IS NULL
     ) AS n WHERE n.id = e.id`,
    [modelId],
  )
  await countSteps(connection, { modelId, earlier: 0, added: rowCount! })
  return rowCount!
}

const batchModels = 100

/** Numbers the gradient steps that an earlier version has stored. Each model is its own transaction. */
export async function numberAllEarlierSteps(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT m.id FROM training.models m
       WHERE EXISTS (SELECT FROM training.jobs j WHERE j.model_id = m.id)
         AND NOT EXISTS (SELECT FROM training.metric_heads h WHERE h.model_id = m.id) LIMIT $1`,
      [batchModels],
    )
    for (const { id } of rows) await withTransaction(pool, (connection) => lockStepCount(connection, id))
    if (rows.length < batchModels) return
  }
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
