import { withTransaction, type Pool } from '../pool.ts'
import { bytesOfCall, countStored, type StoredChange } from './stored-bytes.ts'

/**
 * Deletes the rows of some calls; returns how many. Repeat it while it deletes as many as the limit. Their objects in
 * the artifact store are recorded as replaced long ago, so that retention removes them next.
 *
 * @param which a condition on `tracing.calls c` with parameters from $2 on
 */
export async function removeSomeCalls(
  pool: Pool,
  { which, values, limit }: { which: string; values: unknown[]; limit: number },
): Promise<number> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<StoredChange>(
      `WITH chosen AS (SELECT c.project, c.id, c.week FROM tracing.calls c WHERE ${which} LIMIT $1 FOR UPDATE SKIP LOCKED),
       gone AS (
         DELETE FROM tracing.calls c USING chosen d
         WHERE c.project = d.project AND c.id = d.id AND c.week = d.week
         RETURNING c.project, c.week, c.id, c.spilled, -(${bytesOfCall}) AS bytes
       ),
       noted AS (
         INSERT INTO tracing.replaced_payloads (project, week, id, key, size, replaced_at)
         SELECT project, week, id, part.value ->> 'key', (part.value ->> 'size')::bigint, '-infinity'
         FROM gone, jsonb_each(spilled) AS part
         ON CONFLICT (project, key) DO UPDATE SET replaced_at = '-infinity'
       )
       SELECT project, week, bytes FROM gone`,
      [limit, ...values],
    )
    await countStored(connection, rows)
    return rows.length
  })
}
