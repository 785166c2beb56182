import type { Pool } from '../pool.ts'

/** Lists the visible models of an entity that have a name, of one project or of all, by project. */
export async function listModelsNamed(
  pool: Pool,
  { entity, project, name }: { entity: string; project: string | undefined; name: string },
  limit: number,
): Promise<{ id: string; project: string }[]> {
  const { rows } = await pool.query<{ id: string; project: string }>(
    `SELECT id, project FROM training.models
     WHERE entity = $1 AND ($2::text IS NULL OR project = $2) AND name = $3 AND hidden_at IS NULL AND deleted_at IS NULL
     ORDER BY project LIMIT $4`,
    [entity, project ?? null, name, limit],
  )
  return rows
}
