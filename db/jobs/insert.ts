// Inserts jobs in the state Pending.

import { insertRow, selectColumns } from '../columns.ts'
import type { Connection, Pool } from '../pool.ts'
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

/** Reads what a job was inserted with, and what its input resolved to. */
export async function readNewJob(pool: Pool, id: string): Promise<NewJob> {
  const { rows } = await pool.query<NewJob>(
    `SELECT ${selectColumns(newJobColumns, 'j')} FROM training.jobs j WHERE j.id = $1`,
    [id],
  )
  if (!rows[0]) throw new Error('the row of a job is gone')
  return rows[0]
}
