import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import { unfinished } from './states.ts'
import { jobColumns } from './table.ts'

const columns = pickColumns(jobColumns, 'namespace', 'crName')

/** Finds the resource of the first unfinished job of the same model. */
export async function findNextJob(pool: Pool, jobId: string): Promise<RowOf<typeof columns> | undefined> {
  const { rows } = await pool.query<RowOf<typeof columns>>(
    `SELECT ${selectColumns(columns, 'j')} FROM training.jobs j
     WHERE j.model_id = (SELECT model_id FROM training.jobs WHERE id = $1) AND j.state ${unfinished}
     ORDER BY j.arrival LIMIT 1`,
    [jobId],
  )
  return rows[0]
}
