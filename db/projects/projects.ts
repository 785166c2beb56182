import type { Pool } from '../pool.ts'

/** A project, and how much is in it. */
export interface ProjectRow {
  name: string
  createdAt: Date
  models: number
  runs: number
  dataSets: number
}

interface Page {
  after: string | undefined
  limit: number
}

const content = `SELECT 'model' AS kind, project, created_at FROM training.models
    WHERE entity = $1 AND hidden_at IS NULL AND deleted_at IS NULL
  UNION ALL
  SELECT 'run', project, created_at FROM training.runs WHERE entity = $1 AND deleted_at IS NULL
  UNION ALL
  SELECT 'data set', project, created_at FROM training.artifacts WHERE entity = $1`

/** The names of so many projects of an entity that have models, runs or data sets. */
export async function nameTrainedProjects(pool: Pool, entity: string, most: number): Promise<string[]> {
  const { rows } = await pool.query<{ project: string }>(
    `SELECT DISTINCT project FROM (${content}) AS content LIMIT $2`,
    [entity, most],
  )
  return rows.map(({ project }) => project)
}

/** Lists the projects of an entity that have models, runs or data sets, by name, after the name `after`. */
export async function listTrainedProjects(pool: Pool, entity: string, { after, limit }: Page): Promise<ProjectRow[]> {
  const { rows } = await pool.query<ProjectRow>(
    `SELECT project COLLATE "C" AS name, min(created_at) AS "createdAt", count(*) FILTER (WHERE kind = 'model') AS models,
       count(*) FILTER (WHERE kind = 'run') AS runs, count(*) FILTER (WHERE kind = 'data set') AS "dataSets"
     FROM (${content}) AS content
     WHERE $2::text IS NULL OR project COLLATE "C" > $2
     GROUP BY 1 ORDER BY 1 LIMIT $3`,
    [entity, after ?? null, limit],
  )
  return rows
}
