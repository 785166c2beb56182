import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { cancelModelJobs, lockModelJobs } from '../jobs/endings.ts'

/** Which model is to be deleted: over REST one's own that is not hidden, by its resource's policy any. */
export interface DeletedModel {
  id: string
  /** over REST: whose it must be */
  entity?: string
}

/**
 * Deletes a model with its checkpoints, and ends its unfinished jobs as cancelled, all at once: from then on nothing of
 * it is served, listed or claimed, and its name is free. A job in Publishing is cancelled too: the step that it made is
 * gone with the model. Gives how many checkpoints there were; undefined when there is no such model (any more).
 *
 * `alsoRecord` writes down what the client is answered, in the same transaction.
 */
export async function deleteModel(
  pool: Pool,
  model: DeletedModel,
  alsoRecord?: (connection: Connection, deletedCheckpoints: number) => Promise<void>,
): Promise<number | undefined> {
  return withTransaction(pool, async (connection) => {
    // Reports of trainers lock a job before its model, and so do we.
    const jobs = await lockModelJobs(connection, model)
    const { rowCount } = await connection.query(
      `UPDATE training.models SET deleted_at = clock_timestamp()
       WHERE id = $1 AND deleted_at IS NULL AND ($2::text IS NULL OR entity = $2 AND hidden_at IS NULL)`,
      [model.id, model.entity ?? null],
    )
    if (rowCount === 0) return undefined
    await cancelModelJobs(connection, jobs)
    await connection.query('DELETE FROM training.aliases WHERE model_id = $1', [model.id])
    // In the order in which single ones are deleted.
    await connection.query('SELECT FROM training.checkpoints WHERE model_id = $1 ORDER BY step FOR UPDATE', [model.id])
    const deleted = await connection.query(
      'UPDATE training.checkpoints SET deleted_at = clock_timestamp() WHERE model_id = $1 AND deleted_at IS NULL',
      [model.id],
    )
    await alsoRecord?.(connection, deleted.rowCount ?? 0)
    return deleted.rowCount ?? 0
  })
}
