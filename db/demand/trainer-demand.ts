import { held, unfinished } from '../jobs/states.ts'
import type { Pool } from '../pool.ts'

/**
 * Counts the models of a base model that have jobs for a warm trainer: Queued, or held by one. Jobs of one model never run at
 * the same time.
 */
export async function countTrainerDemand(pool: Pool, baseModel: string): Promise<number> {
  const { rows } = await pool.query<{ models: number }>(
    `SELECT count(DISTINCT j.model_id)::float8 AS models
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     WHERE m.base_model = $1 AND m.deleted_at IS NULL AND j.state ${unfinished} AND j.mode = 'Warm'
       AND (j.state = 'Queued' OR j.state ${held})`,
    [baseModel],
  )
  return rows[0]?.models ?? 0
}
