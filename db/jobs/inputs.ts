import type { Pool } from '../pool.ts'

/** The input of a Pending job, still as the client's address. */
export interface OpenInput {
  id: string
  entity: string
  address: string
  /** The required SHA-256, if the resource names one. */
  digest: string | null
}

/** Undefined if the job is not Pending any more, or its input is in the store. */
export async function findOpenInput(pool: Pool, jobId: string): Promise<OpenInput | undefined> {
  const { rows } = await pool.query<OpenInput>(
    `SELECT j.id, m.entity, j.input_uri AS address, j.input_digest AS digest
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     WHERE j.id = $1 AND j.state = 'Pending' AND (j.input_digest IS NULL OR j.input_uri NOT LIKE 'artifact:%')`,
    [jobId],
  )
  return rows[0]
}

/** Counts a try before it is made, so that a try that ends the process counts too. Returns the number of tries. */
export async function countInputTry(pool: Pool, jobId: string): Promise<number> {
  const { rows } = await pool.query<{ tries: number }>(
    'UPDATE training.jobs SET input_tries = input_tries + 1 WHERE id = $1 RETURNING input_tries AS tries',
    [jobId],
  )
  return rows[0]?.tries ?? 0
}

export async function recordInputError(pool: Pool, jobId: string, message: string): Promise<void> {
  await pool.query('UPDATE training.jobs SET input_error = $2 WHERE id = $1', [jobId, message])
}

/** Records that the input is in the store, where a trainer will read it. */
export async function settleInput(pool: Pool, jobId: string, input: { uri: string; digest: string }): Promise<void> {
  await pool.query(
    `UPDATE training.jobs SET input_uri = $2, input_digest = $3, input_error = NULL
     WHERE id = $1 AND state = 'Pending'`,
    [jobId, input.uri, input.digest],
  )
}
