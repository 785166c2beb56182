import type { Pool } from '../pool.ts'

/** A key that may be used now. */
export interface KnownKey {
  keyId: string
  entity: string
  role: 'read' | 'member' | 'admin'
}

/** The key with this sha256, unless it is revoked or has expired. */
export async function findKey(pool: Pool, digest: Buffer): Promise<KnownKey | undefined> {
  const { rows } = await pool.query<KnownKey>(
    `SELECT id AS "keyId", entity, role FROM auth.api_keys
     WHERE digest = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    [digest],
  )
  return rows[0]
}

/** Notes a new key of an entity by its sha256. */
export async function insertApiKey(pool: Pool, entity: string, digest: Buffer): Promise<void> {
  await pool.query('INSERT INTO auth.api_keys (entity, digest) VALUES ($1, $2)', [entity, digest])
}
