import type { Pool } from '../pool.ts'

/** The adapter that training starts from. */
export interface UntrainedAdapter {
  uri: string
  /** Its files in the store. The MD5s are in hex. */
  files: { path: string; size: number; md5: string; key: string }[]
}

/**
 * Records the adapter that a trainer has stored. The first one stays, so that the version with its files never changes. A
 * base model that is not registered is left out.
 */
export async function recordUntrainedAdapter(pool: Pool, baseModel: string, adapter: UntrainedAdapter): Promise<void> {
  await pool.query(
    `UPDATE training.base_model_sources SET untrained_adapter = $2 WHERE name = $1 AND untrained_adapter IS NULL`,
    [baseModel, adapter],
  )
}

export async function findUntrainedAdapter(pool: Pool, baseModel: string): Promise<UntrainedAdapter | undefined> {
  const { rows } = await pool.query<{ adapter: UntrainedAdapter | null }>(
    'SELECT untrained_adapter AS adapter FROM training.base_model_sources WHERE name = $1',
    [baseModel],
  )
  return rows[0]?.adapter ?? undefined
}
