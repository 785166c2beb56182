import type { Connection, Pool } from '../pool.ts'
import type { JobWarning } from './warnings.ts'

/** A job that is to be taken in. */
export interface NewJob {
  id: string
  /** The key that asked for it. */
  keyId: string
  modelId: string
  method: 'RL' | 'SFT'
  inputUri: string
  /** null: not known before the operator has fetched it */
  inputDigest: string | null
  /** Its size, where it is stored for this job. */
  inputBytes?: number | undefined
  /** Wire names, only what was given. */
  config: Record<string, unknown>
  /** As the client gave it; the input's address is what it stands for. */
  trainingDataUrl?: string | undefined
  /** SFT: whatever the client gave. */
  experimentalConfig?: Record<string, unknown> | undefined
  /** What of the request is passed over. */
  warnings?: JobWarning[] | undefined
  specDigest: string
  namespace: string
  crName: string
}

/**
 * Keeps a model from being deleted until the transaction has ended; false when it is not there any more. A delete that
 * runs at the same time is waited for, or waits and then finds the new job.
 */
export async function lockModel(connection: Connection, modelId: string): Promise<boolean> {
  const { rowCount } = await connection.query(
    'SELECT FROM training.models WHERE id = $1 AND hidden_at IS NULL AND deleted_at IS NULL FOR SHARE',
    [modelId],
  )
  return rowCount === 1
}

/** Takes a job in: Pending, in order of arrival, its resource still to be made. False when its id was taken in before. */
export async function insertJob(connection: Connection, job: NewJob): Promise<boolean> {
  const { rowCount } = await connection.query(
    `INSERT INTO training.jobs (id, model_id, method, input_uri, input_digest, config, training_data_url,
       experimental_config, spec_digest, namespace, cr_name, key_id, input_bytes, creation_warnings)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (id) DO NOTHING`,
    [
      job.id,
      job.modelId,
      job.method,
      job.inputUri,
      job.inputDigest,
      JSON.stringify(job.config),
      job.trainingDataUrl ?? null,
      job.experimentalConfig ? JSON.stringify(job.experimentalConfig) : null,
      job.specDigest,
      job.namespace,
      job.crName,
      job.keyId,
      job.inputBytes ?? null,
      JSON.stringify(job.warnings ?? []),
    ],
  )
  return rowCount === 1
}

/** Notes that a job's resource was made. */
export async function markJobResourceMade(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.jobs SET cr_made_at = now() WHERE id = $1 AND cr_made_at IS NULL', [id])
}
