import type { Connection } from '../pool.ts'

/**
 * Protects a model from deletion until the transaction ends. Returns false if the model is deleted. Waits for a running
 * deletion; a later deletion waits and then sees the new job.
 */
export async function lockModel(connection: Connection, modelId: string): Promise<boolean> {
  const { rowCount } = await connection.query(
    'SELECT FROM training.models WHERE id = $1 AND hidden_at IS NULL AND deleted_at IS NULL FOR SHARE',
    [modelId],
  )
  return rowCount === 1
}
