import type { Pool } from '../pool.ts'
import { removeSomeCalls } from '../tracing/remove-calls.ts'

// All tables with rows of projects, except for calls and projects themselves.
const tables = [
  'object_tags',
  'object_aliases',
  'object_versions',
  'objects',
  'table_chunks',
  'tables',
  'table_rows',
  'files',
  'feedback',
  'costs',
  'replaced_payloads',
  // The last one, because it counts the others.
  'stored_bytes',
]

/**
 * Closes the projects of an entity that existed at a time, or the one with this name. Closed projects are not found any
 * more.
 */
export async function closeProjects(
  pool: Pool,
  { entity, project, before }: { entity: string; project: string | null; before: Date },
): Promise<void> {
  await pool.query(
    `UPDATE tracing.projects SET closed_at = now()
     WHERE entity = $1 AND ($2::text IS NULL OR name = $2) AND created_at <= $3 AND closed_at IS NULL`,
    [entity, project, before],
  )
}

/** Whether an entity has open projects, or an open project with this name. */
export async function hasOpenProjects(pool: Pool, entity: string, project: string | null): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM tracing.projects WHERE entity = $1 AND ($2::text IS NULL OR name = $2) AND closed_at IS NULL LIMIT 1`,
    [entity, project],
  )
  return rowCount !== 0
}

/** Lists the numbers of an entity's projects that were closed `settledSeconds` ago: nobody writes to them any more. */
export async function listClosedProjects(pool: Pool, entity: string, settledSeconds: number): Promise<number[]> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT number FROM tracing.projects
     WHERE entity = $1 AND closed_at < now() - make_interval(secs => $2) AND erased_at IS NULL ORDER BY number`,
    [entity, settledSeconds],
  )
  return rows.map(({ number }) => number)
}

/** Counts the closed projects of an entity that are not erased. */
export async function countClosedProjects(pool: Pool, entity: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*) AS count FROM tracing.projects WHERE entity = $1 AND closed_at IS NOT NULL AND erased_at IS NULL',
    [entity],
  )
  return rows[0]!.count
}

/** Erases some calls of a project. */
export function eraseProjectCalls(pool: Pool, { number, limit }: { number: number; limit: number }): Promise<number> {
  return removeSomeCalls(pool, { which: 'c.project = $2', values: [number], limit })
}

/** Deletes some rows of a project except its calls; returns how many. Repeat it until it returns 0. */
export async function eraseSomeRows(pool: Pool, number: number, limit: number): Promise<number> {
  let erased = 0
  for (const table of tables) {
    const { rowCount } = await pool.query(
      `DELETE FROM tracing.${table}
       WHERE ctid = ANY (ARRAY(SELECT ctid FROM tracing.${table} WHERE project = $1 LIMIT $2))`,
      [number, limit],
    )
    erased += rowCount ?? 0
  }
  return erased
}

/** Records that a project is empty, and removes its name. */
export async function markErased(pool: Pool, number: number): Promise<void> {
  await pool.query("UPDATE tracing.projects SET erased_at = now(), name = '' WHERE number = $1", [number])
}

/** Lists projects that were erased so long ago that nobody can write to them any more. */
export async function listErasedProjects(pool: Pool, seconds: number): Promise<{ entity: string; number: number }[]> {
  const { rows } = await pool.query<{ entity: string; number: number }>(
    `SELECT entity, number FROM tracing.projects
     WHERE erased_at < now() - make_interval(secs => $1) ORDER BY number`,
    [seconds],
  )
  return rows
}

/** Deletes the row of an erased project: the last step of an erasure. */
export async function deleteErasedProject(pool: Pool, number: number): Promise<void> {
  await pool.query('DELETE FROM tracing.projects WHERE number = $1', [number])
}
