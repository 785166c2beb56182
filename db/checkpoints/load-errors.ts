import type { Pool } from '../pool.ts'

/** A checkpoint whose adapter the engines could not load, and the canonical name of its base model. */
export interface UnloadableCheckpoint {
  baseModel: string
  error: string
}

/** Records whether engines can load the adapter of a checkpoint, and notifies the operator of a change. */
export async function recordLoadError(pool: Pool, id: string, error: string | null): Promise<void> {
  await pool.query(
    `WITH changed AS (
       UPDATE training.checkpoints SET load_error = $2, load_tried_at = now()
       WHERE id = $1 AND (load_error IS NOT NULL OR $2::text IS NOT NULL) RETURNING model_id)
     SELECT pg_notify('training_models', model_id::text) FROM changed`,
    [id, error],
  )
}

/**
 * Lists the ids of checkpoints that are the newest of their models and that engines could not load when they were last asked, at
 * least `afterSeconds` ago. Those that wait for longest come first.
 */
export async function listUnloadableCheckpoints(
  pool: Pool,
  { afterSeconds, limit }: { afterSeconds: number; limit: number },
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT c.id FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
     WHERE c.load_error IS NOT NULL AND c.load_tried_at < now() - make_interval(secs => $1)
       AND c.deleted_at IS NULL AND m.deleted_at IS NULL AND m.hidden_at IS NULL
       AND NOT EXISTS (SELECT FROM training.checkpoints newer
         WHERE newer.model_id = c.model_id AND newer.step > c.step AND newer.deleted_at IS NULL)
     ORDER BY c.load_tried_at LIMIT $2`,
    [afterSeconds, limit],
  )
  return rows.map(({ id }) => id)
}

/** Finds a checkpoint that engines could not load. */
export async function findUnloadableCheckpoint(pool: Pool, id: string): Promise<UnloadableCheckpoint | undefined> {
  const { rows } = await pool.query<UnloadableCheckpoint>(
    `SELECT m.base_model AS "baseModel", c.load_error AS error
     FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
     WHERE c.id = $1 AND c.load_error IS NOT NULL AND c.deleted_at IS NULL`,
    [id],
  )
  return rows[0]
}
