import type { Pool } from '../pool.ts'

/** The numbers of an entity's existing projects. */
export async function listProjectNumbers(
  pool: Pool,
  entity: string,
  names: string[],
): Promise<{ name: string; number: number }[]> {
  const { rows } = await pool.query<{ name: string; number: number }>(
    'SELECT name, number FROM tracing.projects WHERE entity = $1 AND name = ANY($2) AND closed_at IS NULL',
    [entity, names],
  )
  return rows
}

/** The kinds of data that a project stores. */
export type StoredKind = 'trace' | 'objects' | 'tables' | 'files'

// Deleted rows do not count, even before they are removed.
const sums: Record<StoredKind, string> = {
  trace: 'SELECT sum(start_size::int8 + end_size) AS sum FROM tracing.calls WHERE project = $1 AND deleted_at IS NULL',
  objects: 'SELECT sum(size) AS sum FROM tracing.object_versions WHERE project = $1 AND deleted_at IS NULL',
  tables: 'SELECT sum(size) AS sum FROM tracing.table_rows WHERE project = $1',
  files: 'SELECT sum(size) AS sum FROM tracing.files WHERE project = $1',
}

/** The bytes of one kind. */
export async function sumStored(pool: Pool, project: number, kind: StoredKind): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `SELECT coalesce(s.sum, 0)::int8 AS bytes FROM (${sums[kind]}) s`,
    [project],
  )
  return rows[0]!.bytes
}
