import type { Pool } from '../pool.ts'

/**
 * Records that keys were used, at most once a minute for each. Skips keys that are being changed, because waiting for
 * several keys could deadlock with their writers.
 */
export async function recordKeyUses(pool: Pool, keyIds: string[]): Promise<void> {
  await pool.query(
    `UPDATE auth.api_keys SET last_used_at = clock_timestamp()
     WHERE id IN (
       SELECT id FROM auth.api_keys
       WHERE id = ANY ($1) AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')
       FOR NO KEY UPDATE SKIP LOCKED)`,
    [keyIds],
  )
}
