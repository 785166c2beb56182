import type { Pool } from '../pool.ts'
import { untrained } from './states.ts'

/** Whether a model has a step, or its jobs may still make it. Step 0 is the base model. */
export async function mayHaveStep(pool: Pool, modelId: string, step: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM training.models m
     WHERE m.id = $1 AND ($2::bigint = 0
       OR EXISTS (SELECT FROM training.checkpoints c
                  WHERE c.model_id = m.id AND c.step = $2::bigint AND c.deleted_at IS NULL)
       OR $2::bigint > m.last_step AND $2::bigint <= m.last_step + (
         SELECT count(*) FROM training.jobs j
         WHERE j.model_id = m.id AND j.state ${untrained}))`,
    [modelId, step],
  )
  return rowCount === 1
}
