import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { bytesOfCall, countStored, type StoredChange } from '../tracing/stored-bytes.ts'

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

/**
 * Deletes some calls for good; answers how many. To be repeated while it deletes as many as it may. Their objects in the
 * artifact store are noted as replaced long ago, to be removed by `purgeReplaced`.
 *
 * @param which a condition on `tracing.calls c` with parameters from $2 on
 */
export async function purgeSome(
  pool: Pool,
  { which, values, limit }: { which: string; values: unknown[]; limit: number },
): Promise<number> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<StoredChange>(
      `WITH expired AS (SELECT c.project, c.id, c.week FROM tracing.calls c WHERE ${which} LIMIT $1 FOR UPDATE SKIP LOCKED),
       gone AS (
         DELETE FROM tracing.calls c USING expired d
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

/** Calls of a project that began longer ago than so many days. */
export function purgeOldCalls(
  pool: Pool,
  { number, days, limit }: { number: number; days: number; limit: number },
): Promise<number> {
  const which = 'c.project = $2 AND c.started_at < now() - make_interval(days => $3) AND c.deleted_at IS NULL'
  return purgeSome(pool, { which, values: [number, days], limit })
}

/** Calls that were deleted longer ago than so many days. */
export function purgeDeletedCalls(pool: Pool, { days, limit }: { days: number; limit: number }): Promise<number> {
  const which = 'c.deleted_at < now() - make_interval(days => $2)'
  return purgeSome(pool, { which, values: [days], limit })
}

/**
 * Removes the values of versions of objects that were deleted longer ago than so many days; answers how many. The rest of
 * a row stays: its index is not given again.
 */
export async function emptyDeletedVersions(
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

/** Ends (and names) whose start has not come within so many days. */
export function purgeLoneEnds(pool: Pool, { days, limit }: { days: number; limit: number }): Promise<number> {
  const which = 'c.waiting_since < now() - make_interval(days => $2)'
  return purgeSome(pool, { which, values: [days], limit })
}

/** All calls of a project. */
export function purgeProjectCalls(pool: Pool, { number, limit }: { number: number; limit: number }): Promise<number> {
  return purgeSome(pool, { which: 'c.project = $2', values: [number], limit })
}

/** An object of the artifact store that its call may not need any more. */
export interface ReplacedPayload {
  key: string
  project: number
  week: number
  id: string
}

/** Objects that newer payloads have replaced so long ago that nobody reads them any more, and those of calls that are gone. */
export async function listReplaced(
  pool: Pool,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<ReplacedPayload[]> {
  const { rows } = await pool.query<ReplacedPayload>(
    `SELECT key, project, week, id FROM tracing.replaced_payloads
     WHERE replaced_at < now() - make_interval(secs => $2) ORDER BY replaced_at LIMIT $1`,
    [limit, seconds],
  )
  return rows
}

/** Whether a call needs an object (again): a value may come back. */
export async function isPayloadUsed(
  connection: Connection,
  { key, project, week, id }: ReplacedPayload,
): Promise<boolean> {
  const { rows } = await connection.query<{ used: boolean | null }>(
    `SELECT jsonb_path_exists(spilled, '$.*.key ? (@ == $key)', jsonb_build_object('key', $4::text)) AS used
     FROM tracing.calls WHERE project = $1 AND week = $2 AND id = $3`,
    [project, week, id, key],
  )
  return rows[0]?.used ?? false
}

/** The object is gone, or used again. */
export async function forgetReplaced(connection: Connection, { project, key }: ReplacedPayload): Promise<void> {
  await connection.query('DELETE FROM tracing.replaced_payloads WHERE project = $1 AND key = $2', [project, key])
}

/** Somebody writes the object just now: whether its call needs it is known later. */
export async function putOffReplaced(pool: Pool, { project, key }: ReplacedPayload): Promise<void> {
  await pool.query('UPDATE tracing.replaced_payloads SET replaced_at = now() WHERE project = $1 AND key = $2', [
    project,
    key,
  ])
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
