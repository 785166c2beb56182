import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { Pool } from '../pool.ts'
import type { QueuePosition } from './queue.ts'
import { unfinished } from './states.ts'
import { stoppingAttempts, type StoppingAttempt } from './stopping-attempts.ts'
import { jobColumns, jobSpecColumns } from './table.ts'
import { warningsOfJob, type JobWarning } from './warnings.ts'

const operatorColumns = {
  ...jobSpecColumns,
  ...pickColumns(jobColumns, 'id', 'state', 'entity', 'inputError', 'attempt', 'maxAttempts', 'holderPod'),
  ...pickColumns(jobColumns, 'progressStep', 'progressTotal', 'failure', 'resourceCreatedAt'),
  ...pickColumns(jobColumns, 'createdAt', 'startedAt', 'finishedAt'),
  ...pickColumns(jobColumns, 'reportedAt', 'suspendAsked', 'suspendedAt', 'suspendedSeconds', 'waitingReason'),
}

interface Row extends RowOf<typeof operatorColumns> {
  /** When its first attempt was claimed. */
  firstClaimedAt: Date | null
  /** Its last attempt lost its trainer, and it is not known yet why. */
  isUndecided: boolean
  baseModel: string
  warnings: JobWarning[]
  stopping: StoppingAttempt[]
  checkpoint: { id: string; step: number; uri: string; digest: string } | null
}

/** A job as the operator sees it. Its position in the queue is read apart, and only valid while it is Queued. */
export interface OperatorJob extends Row, QueuePosition {}

/** The resource of a job. */
interface JobName {
  namespace: string
  crName: string
}

interface JobContent {
  specDigest: string
  /** The model that the spec refers to now, if it is accepted. */
  modelId: string | undefined
}

const select = (condition: string) => `SELECT ${selectColumns(operatorColumns, 'j')},
    (SELECT min(a.claimed_at) FROM training.job_attempts a WHERE a.job_id = j.id) AS "firstClaimedAt",
    EXISTS (SELECT FROM training.job_attempts a
            WHERE a.job_id = j.id AND a.attempt = j.attempt AND a.lost_at IS NOT NULL) AS "isUndecided",
    m.base_model AS "baseModel", ${warningsOfJob} AS warnings, ${stoppingAttempts('j')} AS stopping,
    (SELECT json_build_object('id', c.id, 'step', c.step, 'uri', c.uri, 'digest', c.digest)
     FROM training.checkpoints c WHERE c.job_id = j.id) AS checkpoint
  FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE ${condition}`

const defaultPosition: QueuePosition = { ahead: 0, firstAhead: null, position: 1, hasBaseModel: true, block: null }

async function readJob(pool: Pool, condition: string, values: unknown[]): Promise<OperatorJob | undefined> {
  const { rows } = await pool.query<Row>(select(condition), values)
  return rows.map((job) => ({ ...job, ...defaultPosition }))[0]
}

/** Finds the job that a resource names by id. */
export async function findNamedJob(
  pool: Pool,
  reference: JobName & { ids: string[] },
): Promise<OperatorJob | undefined> {
  const { ids, namespace, crName } = reference
  return readJob(pool, 'j.namespace = $1 AND j.cr_name = $2 AND j.id::text = ANY ($3) LIMIT 1', [
    namespace,
    crName,
    ids,
  ])
}

/**
 * Finds the newest job of a resource's name with the same specification. The specification names the model's resource
 * only. A model that was made anew under that name has trained nothing.
 */
export async function findEqualJob(pool: Pool, reference: JobName & JobContent): Promise<OperatorJob | undefined> {
  const { namespace, crName, specDigest, modelId } = reference
  const condition = `j.namespace = $1 AND j.cr_name = $2 AND j.spec_digest = $3 AND m.deleted_at IS NULL
    AND m.id = coalesce($4, m.id) ORDER BY j.arrival DESC LIMIT 1`
  return readJob(pool, condition, [namespace, crName, specDigest, modelId ?? null])
}

/** Finds a job in Publishing. */
export async function findPublishingJob(pool: Pool, id: string): Promise<OperatorJob | undefined> {
  return readJob(pool, `j.id = $1 AND j.state = 'Publishing'`, [id])
}

/** Changes the number of attempts of an unfinished job. */
export async function limitAttempts(pool: Pool, id: string, maxAttempts: number): Promise<void> {
  await pool.query(`UPDATE training.jobs SET max_attempts = $2 WHERE id = $1 AND state ${unfinished}`, [
    id,
    maxAttempts,
  ])
}

const ofResource = `namespace = $1 AND cr_name = $2 AND resource_created_at IS NOT NULL AND state ${unfinished}`

/** Whether an unfinished job has a resource of this name, which was created. */
export async function hasCreatedJobResource(pool: Pool, namespace: string, crName: string): Promise<boolean> {
  const { rows } = await pool.query(`SELECT FROM training.jobs WHERE ${ofResource} LIMIT 1`, [namespace, crName])
  return rows.length === 1
}

/** Has the lost resource of an unfinished job made again. Returns the ids of such jobs. */
export async function forgetJobResource(pool: Pool, namespace: string, crName: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `UPDATE training.jobs SET resource_created_at = NULL WHERE ${ofResource} RETURNING id`,
    [namespace, crName],
  )
  return rows.map(({ id }) => id)
}

const resourceColumns = pickColumns(jobColumns, 'id', 'namespace', 'crName', 'state')

export type JobResource = RowOf<typeof resourceColumns>

/** Lists the unfinished jobs of these namespaces whose resource was created, in order of arrival. */
export async function listUnfinishedJobs(pool: Pool, namespaces: readonly string[]): Promise<JobResource[]> {
  const { rows } = await pool.query<JobResource>(
    `SELECT ${selectColumns(resourceColumns, 'j')} FROM training.jobs j
     WHERE j.namespace = ANY ($1) AND j.resource_created_at IS NOT NULL AND j.state ${unfinished} ORDER BY j.arrival`,
    [namespaces],
  )
  return rows
}

/** Lists the ids of all jobs in Publishing. */
export async function listPublishingJobs(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM training.jobs WHERE state = 'Publishing' ORDER BY arrival`,
  )
  return rows.map((row) => row.id)
}

/** Finds the resource of a job, the job's state and its base model, by id. */
export async function findJobResource(
  pool: Pool,
  id: string,
): Promise<(JobResource & { baseModel: string }) | undefined> {
  const { rows } = await pool.query<JobResource & { baseModel: string }>(
    `SELECT ${selectColumns(resourceColumns, 'j')}, m.base_model AS "baseModel"
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE j.id = $1`,
    [id],
  )
  return rows[0]
}
