import { withTransaction, type Pool } from '../pool.ts'
import { bytesOfCall, countStored, type StoredChange } from './stored-bytes.ts'

/** How long a project keeps its calls, in days; null: for good. */
export interface KeptProject {
  number: number
  days: number | null
}

/** All projects with what holds for them; `usual` is what holds where nothing was set. */
export async function listRetention(pool: Pool, usual: number | null): Promise<KeptProject[]> {
  const { rows } = await pool.query<KeptProject>(
    'SELECT number, coalesce(retention_days, $1::int) AS days FROM tracing.projects WHERE closed_at IS NULL ORDER BY number',
    [usual],
  )
  return rows
}

/** What was set for a project; null for nothing, also where there is no such project. */
export async function findRetention(pool: Pool, number: number): Promise<number | null> {
  const { rows } = await pool.query<{ days: number | null }>(
    'SELECT retention_days AS days FROM tracing.projects WHERE number = $1',
    [number],
  )
  return rows[0]?.days ?? null
}

export async function setRetention(pool: Pool, number: number, days: number | null): Promise<void> {
  await pool.query('UPDATE tracing.projects SET retention_days = $2 WHERE number = $1', [number, days])
}

/** Removes what a call has in the artifact store. */
export type RemoveSpilled = (keys: string[]) => Promise<void>

/**
 * Deletes some calls for good, with what lies in the artifact store; answers how many. To be repeated while it deletes as
 * many as it may. The files go first: of a crash in between, calls are left that the next time finds again.
 *
 * @param which a condition on `tracing.calls c` with parameters from $2 on
 */
export async function purgeSome(
  pool: Pool,
  { which, values, limit }: { which: string; values: unknown[]; limit: number },
  remove: RemoveSpilled,
): Promise<number> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<StoredChange & { spilled: Record<string, { key: string }> | null }>(
      `WITH doomed AS (SELECT c.project, c.id, c.week FROM tracing.calls c WHERE ${which} LIMIT $1 FOR UPDATE SKIP LOCKED)
       DELETE FROM tracing.calls c USING doomed d
       WHERE c.project = d.project AND c.id = d.id AND c.week = d.week
       RETURNING c.spilled, c.project, c.week,
         CASE WHEN c.deleted_at IS NULL THEN -(${bytesOfCall}) ELSE 0 END AS bytes`,
      [limit, ...values],
    )
    await remove(rows.flatMap(({ spilled }) => Object.values(spilled ?? {}).map(({ key }) => key)))
    await countStored(connection, rows)
    return rows.length
  })
}

/** Calls of a project that began longer ago than so many days. */
export function purgeOldCalls(
  pool: Pool,
  { number, days, limit }: { number: number; days: number; limit: number },
  remove: RemoveSpilled,
): Promise<number> {
  const which = 'c.project = $2 AND c.started_at < now() - make_interval(days => $3) AND c.deleted_at IS NULL'
  return purgeSome(pool, { which, values: [number, days], limit }, remove)
}

/** Calls that were deleted longer ago than so many days. */
export function purgeDeletedCalls(
  pool: Pool,
  { days, limit }: { days: number; limit: number },
  remove: RemoveSpilled,
): Promise<number> {
  const which = 'c.deleted_at < now() - make_interval(days => $2)'
  return purgeSome(pool, { which, values: [days], limit }, remove)
}

/** Ends (and names) whose start has not come within so many days. */
export function purgeLoneEnds(
  pool: Pool,
  { days, limit }: { days: number; limit: number },
  remove: RemoveSpilled,
): Promise<number> {
  const which = 'c.waiting_since < now() - make_interval(days => $2)'
  return purgeSome(pool, { which, values: [days], limit }, remove)
}

/** All calls of a project. */
export function purgeProjectCalls(
  pool: Pool,
  { number, limit }: { number: number; limit: number },
  remove: RemoveSpilled,
): Promise<number> {
  return purgeSome(pool, { which: 'c.project = $2', values: [number], limit }, remove)
}

/**
 * Removes some objects that newer payloads have replaced so long ago that nobody reads them any more; answers how many were
 * looked at. A value that came back meanwhile is in use again: its call says so, and is locked until that is decided.
 */
export async function purgeReplaced(
  pool: Pool,
  { seconds, limit }: { seconds: number; limit: number },
  remove: RemoveSpilled,
): Promise<number> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ key: string; project: number; week: number; id: string }>(
      `DELETE FROM tracing.replaced_payloads WHERE (project, key) IN (
         SELECT project, key FROM tracing.replaced_payloads
         WHERE replaced_at < now() - make_interval(secs => $2) LIMIT $1
       ) RETURNING key, project, week, id`,
      [limit, seconds],
    )
    for (const { key, project, week, id } of rows) {
      const { rows: calls } = await connection.query<{ used: boolean }>(
        `SELECT jsonb_path_exists(c.spilled, '$.*.key ? (@ == $key)', jsonb_build_object('key', $4::text)) AS used
         FROM tracing.calls c WHERE c.project = $1 AND c.week = $2 AND c.id = $3 FOR UPDATE`,
        [project, week, id, key],
      )
      if (!calls[0]?.used) await remove([key])
    }
    return rows.length
  })
}

/** Feedback on calls that is older than so many days: its calls are older still. */
export async function purgeOldFeedback(
  pool: Pool,
  { number, days, limit }: { number: number; days: number; limit: number },
): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM tracing.feedback WHERE (project, id) IN (
       SELECT project, id FROM tracing.feedback
       WHERE project = $1 AND call_id IS NOT NULL AND created_at < now() - make_interval(days => $2) LIMIT $3)`,
    [number, days, limit],
  )
  return rowCount ?? 0
}
