// Inserts jobs in the state Pending.

import { insertRow } from '../columns.ts'
import type { Connection } from '../pool.ts'
import { newJobColumns, type NewJob } from './table.ts'

/** Inserts a Pending job after all earlier ones. Returns false if a job with this id exists. */
export async function insertJob(connection: Connection, job: NewJob): Promise<boolean> {
  const { names, parameters, values } = insertRow(newJobColumns, job)
  const { rowCount } = await connection.query(
    `INSERT INTO training.jobs (${names}) VALUES (${parameters}) ON CONFLICT (id) DO NOTHING`,
    values,
  )
  return rowCount === 1
}
