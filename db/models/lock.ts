import type { Connection } from '../pool.ts'

/**
 * Keeps a model from being deleted until the transaction has ended; false when it is not there any more. A delete that
 * runs at the same time is waited for, or waits and then finds the new job.
 */
export async function lockModel(connection: Connection, modelId: string): Promise<boolean> {
  const { rowCount } = await connection.query(
    'SELECT FROM training.models WHERE id = $1 AND hidden_at IS NULL AND deleted_at IS NULL FOR SHARE',
    [modelId],
  )
  return rowCount === 1
}
