import type { Pool } from '../pool.ts'

/** A project with runs, models or artifacts. */
export interface ProjectRow {
  project: string
  createdAt: Date
}

const parts = ['training.runs', 'training.models'].map(
  (table) => `SELECT project, created_at FROM ${table} WHERE entity = $1 AND deleted_at IS NULL`,
)
const projects = `SELECT project, min(created_at) AS "createdAt" FROM (${parts.join(' UNION ALL ')}) AS named`

/** Lists an entity's projects by their names, after the name `after`. */
export async function listProjects(
  pool: Pool,
  entity: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<ProjectRow[]> {
  const { rows } = await pool.query<ProjectRow>(
    `${projects} WHERE ($2::text IS NULL OR project > $2) GROUP BY project ORDER BY project LIMIT $3`,
    [entity, after ?? null, limit],
  )
  return rows
}

/** When the first run or model of a project was made; undefined if it has none. */
export async function findProjectTime(pool: Pool, entity: string, project: string): Promise<Date | undefined> {
  const { rows } = await pool.query<ProjectRow>(`${projects} WHERE project = $2 GROUP BY project`, [entity, project])
  return rows[0]?.createdAt
}
