import type { Pool } from '../pool.ts'
import type { JobFailure } from './attempts.ts'
import { warningsOfJob, type JobWarning } from './warnings.ts'
import { findQueuePlaces, unfinished, type QueuePlace } from './queue.ts'

export type JobState =
  | 'Pending'
  | 'Queued'
  | 'Starting'
  | 'Running'
  | 'Publishing'
  | 'Succeeded'
  | 'Failed'
  | 'Cancelled'

/** A job as the operator sees it; its place in the queue means something while it is Queued. */
export interface OperatorJob extends QueuePlace {
  id: string
  state: JobState
  method: string
  entity: string
  baseModel: string
  inputUri: string
  /** null: its input is still to be fetched */
  inputDigest: string | null
  /** why fetching it was in vain the last time */
  inputFault: string | null
  attempt: number
  maxAttempts: number
  holderPod: string | null
  progressStep: number
  progressTotal: number | null
  failure: JobFailure | null
  warnings: JobWarning[]
  checkpoint: { id: string; step: number; uri: string; digest: string } | null
  crMadeAt: Date | null
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
}

/** How the resource names its job: by the id in its label, else by what it says. */
export interface JobReference {
  id: string | undefined
  namespace: string
  crName: string
  specDigest: string
}

/** The jobs that a condition finds. */
const select = (
  condition: string,
) => `SELECT j.id, j.state, j.method, j.entity, m.base_model AS "baseModel", j.input_uri AS "inputUri",
    j.input_digest AS "inputDigest", j.input_fault AS "inputFault", j.attempt,
    j.max_attempts AS "maxAttempts", j.holder_pod AS "holderPod", j.progress_step AS "progressStep",
    j.progress_total AS "progressTotal", j.failure, ${warningsOfJob} AS warnings, j.cr_made_at AS "crMadeAt", j.created_at AS "createdAt",
    j.started_at AS "startedAt", j.finished_at AS "finishedAt",
    (SELECT json_build_object('id', c.id, 'step', c.step, 'uri', c.uri, 'digest', c.digest)
     FROM training.checkpoints c WHERE c.job_id = j.id) AS checkpoint
  FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE ${condition}`

const noPlace: QueuePlace = { ahead: 0, firstAhead: null, place: 1 }

async function readJob(pool: Pool, condition: string, values: unknown[]): Promise<OperatorJob | undefined> {
  const { rows } = await pool.query<Omit<OperatorJob, keyof QueuePlace>>(select(condition), values)
  const places = await findQueuePlaces(pool, rows)
  return rows.map((job) => ({ ...job, ...noPlace, ...places.get(job.id) }))[0]
}

/** The job of a resource: the one of its label, else the newest of its name with the same specification. */
export async function findReferencedJob(pool: Pool, reference: JobReference): Promise<OperatorJob | undefined> {
  const { id, namespace, crName, specDigest } = reference
  const condition = `j.namespace = $1 AND j.cr_name = $2 AND (j.id::text = $3 OR j.spec_digest = $4)
    ORDER BY (j.id::text = $3) DESC NULLS LAST, j.arrival DESC LIMIT 1`
  return readJob(pool, condition, [namespace, crName, id ?? null, specDigest])
}

/** A job that has its checkpoint and is not ended yet; undefined for every other one. */
export async function findPublishingJob(pool: Pool, id: string): Promise<OperatorJob | undefined> {
  return readJob(pool, `j.id = $1 AND j.state = 'Publishing'`, [id])
}

export interface NewResourceJob extends JobReference {
  modelId: string
  method: string
  inputUri: string
  inputDigest: string | null
  /** what the resource says, where that is still to be resolved */
  trainingDataUrl: string | null
  /** wire names */
  config: Record<string, unknown>
  maxAttempts: number
}

/** Takes in a job that was made with kubectl: Pending, behind all that came before. */
export async function insertResourceJob(pool: Pool, job: NewResourceJob): Promise<void> {
  await pool.query(
    `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, max_attempts, spec_digest, namespace,
       cr_name, training_data_url, cr_made_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now())`,
    [
      job.modelId,
      job.method,
      job.inputUri,
      job.inputDigest,
      JSON.stringify(job.config),
      job.maxAttempts,
      job.specDigest,
      job.namespace,
      job.crName,
      job.trainingDataUrl,
    ],
  )
}

/** Pending to Queued: from now on a trainer may claim it. */
export async function queueJob(pool: Pool, id: string): Promise<void> {
  await pool.query(
    `UPDATE training.jobs SET state = 'Queued', queued_at = clock_timestamp(), cr_made_at = coalesce(cr_made_at, now())
     WHERE id = $1 AND state = 'Pending'`,
    [id],
  )
}

/** Changes how often an unfinished job is tried. */
export async function limitAttempts(pool: Pool, id: string, maxAttempts: number): Promise<void> {
  await pool.query(`UPDATE training.jobs SET max_attempts = $2 WHERE id = $1 AND state ${unfinished}`, [
    id,
    maxAttempts,
  ])
}

/** Ids of the unfinished jobs of a resource name whose resource was made: when that is gone, somebody deleted it. */
export async function listJobsOfResource(pool: Pool, namespace: string, crName: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM training.jobs
     WHERE namespace = $1 AND cr_name = $2 AND cr_made_at IS NOT NULL AND state ${unfinished}`,
    [namespace, crName],
  )
  return rows.map((row) => row.id)
}

export interface JobResource {
  id: string
  crName: string
  state: JobState
}

/** The unfinished jobs of a namespace whose resource was made, in order of arrival. */
export async function listUnfinishedJobs(pool: Pool, namespace: string): Promise<JobResource[]> {
  const { rows } = await pool.query<JobResource>(
    `SELECT id, cr_name AS "crName", state FROM training.jobs
     WHERE namespace = $1 AND cr_made_at IS NOT NULL AND state ${unfinished} ORDER BY arrival`,
    [namespace],
  )
  return rows
}

/** Ids of all jobs that have their checkpoint and are not ended yet. */
export async function listPublishingJobs(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM training.jobs WHERE state = 'Publishing' ORDER BY arrival`,
  )
  return rows.map((row) => row.id)
}

/** The resource of a job and its state, by its id. */
export async function findJobResource(pool: Pool, id: string, namespace: string): Promise<JobResource | undefined> {
  const { rows } = await pool.query<JobResource>(
    'SELECT id, cr_name AS "crName", state FROM training.jobs WHERE id = $1 AND namespace = $2',
    [id, namespace],
  )
  return rows[0]
}

/** The model that a TrainingJob resource names: known, not hidden; `served` is false when its base model is gone. */
export async function findJobModel(
  pool: Pool,
  namespace: string,
  crName: string,
): Promise<{ id: string; entity: string; baseModel: string; served: boolean } | undefined> {
  const { rows } = await pool.query<{ id: string; entity: string; baseModel: string; served: boolean }>(
    `SELECT m.id, m.entity, m.base_model AS "baseModel",
       EXISTS (SELECT 1 FROM training.base_models b WHERE b.name = m.base_model) AS served
     FROM training.models m WHERE m.namespace = $1 AND m.cr_name = $2 AND m.hidden_at IS NULL AND m.deleted_at IS NULL`,
    [namespace, crName],
  )
  return rows[0]
}

export interface JobWithoutResource {
  id: string
  namespace: string
  crName: string
  method: 'RL' | 'SFT'
  inputUri: string
  inputDigest: string | null
  config: Record<string, unknown>
  modelCrName: string
}

/** Unfinished jobs of a namespace whose resource is still to be made, in order of arrival. */
export async function listJobsWithoutResource(pool: Pool, namespace: string): Promise<JobWithoutResource[]> {
  const { rows } = await pool.query<JobWithoutResource>(
    `SELECT j.id, j.namespace, j.cr_name AS "crName", j.method, j.input_uri AS "inputUri",
       j.input_digest AS "inputDigest", j.config, m.cr_name AS "modelCrName"
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id
     WHERE j.cr_made_at IS NULL AND j.namespace = $1 AND j.state ${unfinished} ORDER BY j.arrival LIMIT 100`,
    [namespace],
  )
  return rows
}

/** Notes that the resource of a job was made. */
export async function markJobResource(pool: Pool, id: string): Promise<void> {
  await pool.query('UPDATE training.jobs SET cr_made_at = now() WHERE id = $1 AND cr_made_at IS NULL', [id])
}
