import type { Pool } from '../pool.ts'

/** The entity of the unrevoked key with this sha256, or undefined. */
export async function findKeyEntity(pool: Pool, digest: Buffer): Promise<string | undefined> {
  const { rows } = await pool.query<{ entity: string }>(
    'SELECT entity FROM auth.api_keys WHERE digest = $1 AND revoked_at IS NULL',
    [digest],
  )
  return rows[0]?.entity
}

/** Notes a new key of an entity by its sha256. */
export async function insertApiKey(pool: Pool, entity: string, digest: Buffer): Promise<void> {
  await pool.query('INSERT INTO auth.api_keys (entity, digest) VALUES ($1, $2)', [entity, digest])
}
