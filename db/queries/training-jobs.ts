import type { Connection, Pool } from '../pool.ts'

export interface NewTrainingJob {
  id: string
  /** The key that asked for it. */
  keyId: string
  modelId: string
  method: 'RL'
  inputUri: string
  inputDigest: string
  /** Wire names, only what was given. */
  config: Record<string, unknown>
  specDigest: string
  namespace: string
  crName: string
}

/** Takes a job in: Pending, in order of arrival. Its resource is still to be made. */
export async function insertTrainingJob(connection: Connection, job: NewTrainingJob): Promise<void> {
  await connection.query(
    `INSERT INTO training.jobs (id, model_id, method, input_uri, input_digest, config, spec_digest, namespace, cr_name,
       key_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      job.id,
      job.modelId,
      job.method,
      job.inputUri,
      job.inputDigest,
      JSON.stringify(job.config),
      job.specDigest,
      job.namespace,
      job.crName,
      job.keyId,
    ],
  )
}

/** Notes that a job's resource was made. */
export async function markTrainingJobResourceMade(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.jobs SET cr_made_at = now() WHERE id = $1 AND cr_made_at IS NULL', [id])
}
