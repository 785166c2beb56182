import type { Pool } from '../pool.ts'
import { removeSomeCalls } from '../tracing/remove-calls.ts'

/** Removes calls that were deleted more than `days` days ago. */
export function removeDeletedCalls(pool: Pool, { days, limit }: { days: number; limit: number }): Promise<number> {
  const which = 'c.deleted_at < now() - make_interval(days => $2)'
  return removeSomeCalls(pool, { which, values: [days], limit })
}

/**
 * Removes the values of object versions that were deleted long ago; returns how many. The rest of each row stays, so
 * that its index is not used again.
 */
export async function removeDeletedVersions(
  pool: Pool,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE tracing.object_versions SET val = 'null', size = 0 WHERE (project, object_id, kind, digest) IN (
       SELECT project, object_id, kind, digest FROM tracing.object_versions
       WHERE deleted_at < now() - make_interval(days => $1) AND size > 0 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [days, limit],
  )
  return rowCount ?? 0
}
