// Inserts jobs, which are Pending then.

import { insertRow } from '../columns.ts'
import type { Connection } from '../pool.ts'
import { newJobColumns, type NewJob } from './table.ts'

/** Inserts a job: Pending, behind all that came before. False when a job of this id is there already. */
export async function insertJob(connection: Connection, job: NewJob): Promise<boolean> {
  const { columnsAndValues, values } = insertRow(newJobColumns, job)
  const { rowCount } = await connection.query(
    `INSERT INTO training.jobs ${columnsAndValues} ON CONFLICT (id) DO NOTHING`,
    values,
  )
  return rowCount === 1
}
