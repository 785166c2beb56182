// Inserts jobs, which are Pending then.

import { insertRow } from '../columns.ts'
import type { Connection } from '../pool.ts'
import { newJobColumns, type NewJob } from './table.ts'

/** Inserts a job: Pending, after all earlier ones. False when a job of this id exists already. */
export async function insertJob(connection: Connection, job: NewJob): Promise<boolean> {
  const { names, parameters, values } = insertRow(newJobColumns, job)
  const { rowCount } = await connection.query(
    `INSERT INTO training.jobs (${names}) VALUES (${parameters}) ON CONFLICT (id) DO NOTHING`,
    values,
  )
  return rowCount === 1
}
