import type { Connection, Pool } from '../pool.ts'

export interface TrainingJobRow {
  id: string
  modelId: string
  method: string
  state: string
  attempt: number
  config: Record<string, unknown>
  step: number | null
  progressStep: number
  progressTotal: number | null
  failure: { category: string; reason: string; message: string } | null
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

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

/** A job of one of the entity's models, or undefined. */
export async function findTrainingJob(pool: Pool, entity: string, id: string): Promise<TrainingJobRow | undefined> {
  const { rows } = await pool.query<TrainingJobRow>(
    `SELECT j.id, j.model_id AS "modelId", j.method, j.state, j.attempt, j.config, j.step,
       j.progress_step AS "progressStep", j.progress_total AS "progressTotal", j.failure,
       j.created_at AS "createdAt", j.started_at AS "startedAt", j.finished_at AS "finishedAt"
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     WHERE j.id = $1 AND m.entity = $2`,
    [id, entity],
  )
  return rows[0]
}
