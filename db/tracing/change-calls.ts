import type { Pool } from '../pool.ts'
import { retryDuringPartitionCreation } from './create-partitions.ts'

/** Addresses a call. */
export interface CallAddress {
  week: number
  project: number
  id: string
}

/** Renames a call; null removes the name. A start that arrives later does not undo this. */
export async function renameCall(pool: Pool, { week, project, id }: CallAddress, name: string | null): Promise<void> {
  const text = `INSERT INTO tracing.calls AS c (week, project, id, display_name, renamed, waiting_since)
    VALUES ($1, $2, $3, $4, true, now())
    ON CONFLICT (week, project, id) DO UPDATE SET display_name = excluded.display_name, renamed = true,
      waiting_since = CASE WHEN c.started_at IS NULL THEN excluded.waiting_since END`
  await retryDuringPartitionCreation(() => pool.query(text, [week, project, id, name]))
}

/** The traces of these calls, without calls that are deleted or unknown. */
export async function listTraces(
  pool: Pool,
  { weeks, project, ids }: { weeks: number[]; project: number; ids: string[] },
): Promise<{ id: string; traceId: string }[]> {
  const { rows } = await pool.query<{ id: string; traceId: string }>(
    `SELECT id, trace_id AS "traceId" FROM tracing.calls
     WHERE week = ANY ($1) AND project = $2 AND id = ANY ($3) AND started_at IS NOT NULL AND deleted_at IS NULL`,
    [weeks, project, ids],
  )
  return rows
}

/** Lists the parent of each call in a trace: at most `limit` calls, those that began first. */
export async function listParents(
  pool: Pool,
  { project, traceId, limit }: { project: number; traceId: string; limit: number },
): Promise<{ id: string; parentId: string | null }[]> {
  const { rows } = await pool.query<{ id: string; parentId: string | null }>(
    `SELECT id, parent_id AS "parentId" FROM tracing.calls
     WHERE project = $1 AND trace_id = $2 AND started_at IS NOT NULL AND deleted_at IS NULL
     ORDER BY started_at LIMIT $3`,
    [project, traceId, limit],
  )
  return rows
}

/** Marks calls as deleted; returns how many. They count as stored until their rows are removed. */
export async function deleteCalls(
  pool: Pool,
  { weeks, project, ids }: { weeks: number[]; project: number; ids: string[] },
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `WITH matching AS (
       SELECT week, id FROM tracing.calls
       WHERE week = ANY ($1) AND project = $2 AND id = ANY ($3) AND started_at IS NOT NULL AND deleted_at IS NULL
       ORDER BY id FOR UPDATE
     ), deleted AS (
       UPDATE tracing.calls c SET deleted_at = now() FROM matching d
       WHERE c.week = d.week AND c.project = $2 AND c.id = d.id
       RETURNING 1
     )
     SELECT count(*) AS count FROM deleted`,
    [weeks, project, ids],
  )
  return rows[0]!.count
}
