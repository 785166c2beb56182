import type { Pool } from '../pool.ts'

/** The address of a checkpoint that a job has made for some model of a base model. */
export async function findTrainedCheckpoint(pool: Pool, baseModel: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ uri: string }>(
    `SELECT c.uri FROM training.models m JOIN training.checkpoints c ON c.model_id = m.id
     WHERE m.base_model = $1 AND m.deleted_at IS NULL AND c.deleted_at IS NULL AND c.job_id IS NOT NULL LIMIT 1`,
    [baseModel],
  )
  return rows[0]?.uri
}
