import type { InvalidatingConnection } from '../changes.ts'
import { cancelModelJobs, lockModelJobs } from '../jobs/endings.ts'

/** The model to delete. REST deletes only the entity's own visible models; a resource's policy deletes any. */
export interface DeletedModel {
  id: string
  /** REST only: the entity that must own the model. */
  entity?: string
}

/**
 * Deletes a model with its checkpoints and cancels its unfinished jobs, in this transaction. From then on nothing of it
 * is served, listed or claimed, and its name is free. Jobs in Publishing are cancelled too: their step is deleted with
 * the model. Returns the number of checkpoints, or undefined if there is no such model.
 */
export async function deleteModel(
  connection: InvalidatingConnection,
  model: DeletedModel,
): Promise<number | undefined> {
  // Reports of trainers lock a job before its model, so this does too.
  const jobs = await lockModelJobs(connection, model)
  const { rowCount } = await connection.query(
    `UPDATE training.models SET deleted_at = clock_timestamp()
     WHERE id = $1 AND deleted_at IS NULL AND ($2::text IS NULL OR entity = $2 AND hidden_at IS NULL)`,
    [model.id, model.entity ?? null],
  )
  if (rowCount === 0) return undefined
  await cancelModelJobs(connection, jobs)
  await connection.query('DELETE FROM training.aliases WHERE model_id = $1', [model.id])
  // Single checkpoints are deleted in the same order.
  await connection.query('SELECT FROM training.checkpoints WHERE model_id = $1 ORDER BY step FOR UPDATE', [model.id])
  const deleted = await connection.query(
    'UPDATE training.checkpoints SET deleted_at = clock_timestamp() WHERE model_id = $1 AND deleted_at IS NULL',
    [model.id],
  )
  return deleted.rowCount ?? 0
}
