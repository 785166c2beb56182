import type { Pool } from '../pool.ts'
import { readMeasured } from './read-measured.ts'
import { selectRun, type RunName, type RunRow } from './table.ts'

/** Finds a run by its project and name. */
export async function findRun(pool: Pool, { entity, project, name }: RunName): Promise<RunRow | undefined> {
  const { rows } = await pool.query<RunRow>(
    `SELECT ${selectRun} FROM training.runs r
     WHERE r.entity = $1 AND r.project = $2 AND r.name = $3 AND r.deleted_at IS NULL`,
    [entity, project, name],
  )
  return rows[0]
}

/** Finds a run by its id. */
export async function findRunById(pool: Pool, entity: string, id: string): Promise<RunRow | undefined> {
  const { rows } = await pool.query<RunRow>(
    `SELECT ${selectRun} FROM training.runs r WHERE r.entity = $1 AND r.id = $2 AND r.deleted_at IS NULL`,
    [entity, id],
  )
  return rows[0]
}

/** Reads the config and the summary of a run, as JSON texts. */
export async function readRunValues(pool: Pool, number: number): Promise<{ config: string; summary: string }> {
  const sql = 'SELECT config::text, summary::text FROM training.runs WHERE number = $1'
  const select = { sql, values: [number], bytes: 'octet_length(config) + octet_length(summary)' }
  const [row] = await readMeasured<{ config: string; summary: string }>(pool, select)
  return row ?? { config: '{}', summary: '{}' }
}

/** Whether an entity has a run in a project. */
export async function hasRuns(pool: Pool, entity: string, project: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM training.runs WHERE entity = $1 AND project = $2 AND deleted_at IS NULL LIMIT 1',
    [entity, project],
  )
  return rowCount === 1
}
