import type { Pool } from '../pool.ts'
import { selectRun, sqlRunState, type RunRow } from './table.ts'

/** A run with its model: the one that has its name. */
export interface ListedRun extends RunRow {
  modelId: string | null
  /** Lines of its history that the service has written. Their numbers are below 0. */
  serviceLines: number
}

const columns = `${selectRun}, (
  SELECT m.id FROM training.models m
  WHERE m.entity = r.entity AND m.project = r.project AND m.name = r.name AND m.deleted_at IS NULL) AS "modelId", (
  SELECT -least(min(l.line), 0) FROM training.run_lines l WHERE l.run = r.number AND l.stream = 0) AS "serviceLines"`

export interface RunListing {
  project: string | undefined
  name: string | undefined
  state: string | undefined
  /** The number of the last run before the page. */
  after: number | undefined
  order: 'asc' | 'desc'
  limit: number
}

/** Lists an entity's runs in the order of their creation. */
export async function listEntityRuns(
  pool: Pool,
  entity: string,
  { project, name, state, after, order, limit }: RunListing,
): Promise<ListedRun[]> {
  const [comparison, direction] = order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<ListedRun>(
    `SELECT ${columns} FROM training.runs r
     WHERE r.entity = $1 AND ($2::text IS NULL OR r.project = $2) AND r.deleted_at IS NULL
       AND ($3::text IS NULL OR ${sqlRunState} = $3) AND ($4::bigint IS NULL OR r.number ${comparison} $4)
       AND ($6::text IS NULL OR r.name = $6)
     ORDER BY r.number ${direction} LIMIT $5`,
    [entity, project ?? null, state ?? null, after ?? null, limit, name ?? null],
  )
  return rows
}

/** Finds a run with its model. */
export async function findListedRun(pool: Pool, entity: string, id: string): Promise<ListedRun | undefined> {
  const { rows } = await pool.query<ListedRun>(
    `SELECT ${columns} FROM training.runs r WHERE r.entity = $1 AND r.id = $2 AND r.deleted_at IS NULL`,
    [entity, id],
  )
  return rows[0]
}
