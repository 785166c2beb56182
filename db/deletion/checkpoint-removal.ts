import type { Pool } from '../pool.ts'
import { held } from '../jobs/states.ts'

/**
 * Lists the ids of all checkpoints that may have files: the recorded ones, and those that attempts were to write. The
 * last attempt may still be writing.
 */
export async function listCheckpointFolders(pool: Pool, modelId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM training.checkpoints WHERE model_id = $1 AND files_removed_at IS NULL
     UNION SELECT checkpoint_id FROM training.jobs WHERE model_id = $1 AND checkpoint_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM training.checkpoints c WHERE c.id = checkpoint_id AND c.files_removed_at IS NOT NULL)`,
    [modelId],
  )
  return rows.map(({ id }) => id)
}

/** Lists the ids of all checkpoints that a model ever had. Its adapters on the engines are named by them. */
export async function listCheckpointIds(pool: Pool, modelId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM training.checkpoints WHERE model_id = $1', [
    modelId,
  ])
  return rows.map(({ id }) => id)
}

/** A deleted checkpoint of a model that is not deleted. */
export interface DeletedCheckpointRow {
  id: string
  baseModel: string
  ageSeconds: number
}

/**
 * Lists deleted checkpoints whose files can be removed: no job that was claimed before can start from them any more.
 */
export async function listCheckpointsToRemove(pool: Pool): Promise<DeletedCheckpointRow[]> {
  const { rows } = await pool.query<DeletedCheckpointRow>(
    `SELECT c.id, m.base_model AS "baseModel", extract(epoch FROM now() - c.deleted_at)::float8 AS "ageSeconds"
     FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
     WHERE c.deleted_at IS NOT NULL AND c.files_removed_at IS NULL AND m.deleted_at IS NULL AND NOT EXISTS (
       SELECT FROM training.jobs j WHERE j.model_id = c.model_id AND j.state ${held}
         AND coalesce(j.claimed_at, '-infinity') < c.deleted_at)
     ORDER BY c.deleted_at LIMIT 200`,
  )
  return rows
}

/** Records that the files and adapters of deleted checkpoints were removed. */
export async function markCheckpointsRemoved(pool: Pool, ids: string[]): Promise<void> {
  await pool.query('UPDATE training.checkpoints SET files_removed_at = now() WHERE id = ANY ($1)', [ids])
}
