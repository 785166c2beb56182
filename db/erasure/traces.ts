import type { Pool } from '../pool.ts'
import { removeSomeCalls } from '../tracing/remove-calls.ts'

// All that has rows of projects, but calls and projects themselves.
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
  // The last one: it counts the others.
  'stored_bytes',
]

/**
 * Closes the projects of an entity, or the one with this name, that were there at a time: nobody finds them from now on.
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

/** Whether an entity has projects, or one of this name, that are not closed. */
export async function hasOpenProjects(pool: Pool, entity: string, project: string | null): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM tracing.projects WHERE entity = $1 AND ($2::text IS NULL OR name = $2) AND closed_at IS NULL LIMIT 1`,
    [entity, project],
  )
  return rowCount !== 0
}

/** The numbers of an entity's projects that were closed so long ago that nobody writes to them any more. */
export async function listClosedProjects(pool: Pool, entity: string, settledSeconds: number): Promise<number[]> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT number FROM tracing.projects
     WHERE entity = $1 AND closed_at < now() - make_interval(secs => $2) AND erased_at IS NULL ORDER BY number`,
    [entity, settledSeconds],
  )
  return rows.map(({ number }) => number)
}

/** How many closed projects of an entity are left. */
export async function countClosedProjects(pool: Pool, entity: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*) AS count FROM tracing.projects WHERE entity = $1 AND closed_at IS NOT NULL AND erased_at IS NULL',
    [entity],
  )
  return rows[0]!.count
}

/** All calls of a project. */
export function eraseProjectCalls(pool: Pool, { number, limit }: { number: number; limit: number }): Promise<number> {
  return removeSomeCalls(pool, { which: 'c.project = $2', values: [number], limit })
}

/** Deletes some rows of a project beside its calls; answers how many. To be repeated until there are none. */
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

/** Records that nothing is left of a project, and removes its name. */
export async function markErased(pool: Pool, number: number): Promise<void> {
  await pool.query("UPDATE tracing.projects SET erased_at = now(), name = '' WHERE number = $1", [number])
}

/** Projects that were erased so long ago that surely nobody writes to them any more. */
export async function listErasedProjects(pool: Pool, seconds: number): Promise<{ entity: string; number: number }[]> {
  const { rows } = await pool.query<{ entity: string; number: number }>(
    `SELECT entity, number FROM tracing.projects
     WHERE erased_at < now() - make_interval(secs => $1) ORDER BY number`,
    [seconds],
  )
  return rows
}

/** The last step of an erasure. */
export async function deleteErasedProject(pool: Pool, number: number): Promise<void> {
  await pool.query('DELETE FROM tracing.projects WHERE number = $1', [number])
}
