import pg from 'pg'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { leaseSeconds, type Attempt } from './job-attempts.ts'
import { releaseLostJobs } from './job-endings.ts'

/**
 * A start of a trainer, as it asks for work: its base model, its pod, which start of the trainer in that pod, and how
 * many GPUs it works with.
 */
export interface Claimant {
  baseModel: string
  podUid: string
  processId: string
  gpus: number
}

/** A job that a trainer now holds, with all that it needs to train it. */
export interface Claim {
  id: string
  attempt: number
  modelId: string
  baseModel: string
  method: string
  input: { uri: string; digest: string }
  config: Record<string, unknown>
  step: number
  checkpointId: string
  fromCheckpoint: { id: string; step: number; uri: string; digest: string } | null
}

/**
 * Gives the oldest job that may run now to a trainer: Queued, of the trainer's base model, no other job of its model
 * active and none before it unfinished. Undefined when there is none.
 *
 * What earlier processes of the same pod held is released first. A process that asks again before it has reported
 * anything lost the answer, and gets the same job, in the same attempt.
 */
export async function claimJob(pool: Pool, claimant: Claimant): Promise<Claim | undefined> {
  for (;;) {
    try {
      return await withTransaction(pool, (connection) => claimOnce(connection, claimant))
    } catch (error) {
      // An older job of the same model was queued and claimed since this one's snapshot: look again.
      if (!isSecondActiveJob(error)) throw error
    }
  }
}

async function claimOnce(connection: Connection, claimant: Claimant): Promise<Claim | undefined> {
  // One claim of a pod at a time, or two requests of one process (the first given up by its client) would get two jobs.
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [claimant.podUid])
  const held = await releaseOlderWork(connection, claimant)
  const jobId = held ?? (await startNextJob(connection, claimant))
  return jobId === undefined ? undefined : readClaim(connection, jobId)
}

async function releaseOlderWork(connection: Connection, claimant: Claimant): Promise<string | undefined> {
  const { rows } = await connection.query<{ id: string; lostAnswer: boolean }>(
    `SELECT id, holder_process = $2 AND state = 'Starting' AS "lostAnswer" FROM training.jobs
     WHERE holder_pod = $1 AND state IN ('Starting', 'Running') ORDER BY id FOR UPDATE`,
    [claimant.podUid, claimant.processId],
  )
  const held = rows.find((row) => row.lostAnswer)?.id
  await releaseLostJobs(
    connection,
    rows.filter((row) => row.id !== held),
  )
  if (held !== undefined) await connection.query(renewSql('id = $1'), [held])
  return held
}

async function startNextJob(connection: Connection, claimant: Claimant): Promise<string | undefined> {
  const { rows } = await connection.query<{ id: string }>(
    `WITH claimed AS (UPDATE training.jobs SET
       state = 'Starting', attempt = attempt + 1, holder_pod = $2, holder_process = $3,
       lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
       checkpoint_id = gen_random_uuid(), step = next.step, progress_step = 0, progress_total = NULL,
       claimed_at = clock_timestamp(), started_at = NULL, gpus = $4
     FROM (
       SELECT candidate.id, model.last_step + 1 AS step
       FROM training.jobs candidate JOIN training.models model ON model.id = candidate.model_id
       WHERE model.base_model = $1 AND model.deleted_at IS NULL AND candidate.state = 'Queued' AND NOT EXISTS (
         SELECT FROM training.jobs other
         WHERE other.model_id = candidate.model_id AND other.state NOT IN ('Succeeded', 'Failed', 'Cancelled')
           AND (other.arrival < candidate.arrival OR other.state IN ('Starting', 'Running', 'Publishing')))
       ORDER BY candidate.arrival LIMIT 1 FOR UPDATE OF candidate SKIP LOCKED
     ) next
     WHERE jobs.id = next.id RETURNING jobs.id, jobs.attempt)
     INSERT INTO training.job_attempts (job_id, attempt, pod) SELECT id, attempt, $2 FROM claimed
     RETURNING job_id AS id`,
    [claimant.baseModel, claimant.podUid, claimant.processId, claimant.gpus],
  )
  return rows[0]?.id
}

async function readClaim(connection: Connection, jobId: string): Promise<Claim> {
  const { rows } = await connection.query<Claim>(
    `SELECT job.id, job.attempt, job.model_id AS "modelId", model.base_model AS "baseModel", job.method,
       jsonb_build_object('uri', job.input_uri, 'digest', job.input_digest) AS input, job.config, job.step,
       job.checkpoint_id AS "checkpointId",
       (SELECT jsonb_build_object('id', id, 'step', step, 'uri', uri, 'digest', digest)
        FROM training.checkpoints WHERE model_id = job.model_id AND deleted_at IS NULL ORDER BY step DESC LIMIT 1) AS "fromCheckpoint"
     FROM training.jobs job JOIN training.models model ON model.id = job.model_id WHERE job.id = $1`,
    [jobId],
  )
  const claim = rows[0]
  if (!claim) throw new Error('a claimed job has no row')
  return claim
}

/**
 * Renews the lease of the attempt that holds the job; false when it no longer does. A late renewal of an attempt whose
 * checkpoint is already recorded is no fault, and true.
 */
export async function renewLease(pool: Pool, held: Attempt): Promise<boolean> {
  const { rowCount } = await pool.query(
    renewSql("id = $1 AND attempt = $2 AND holder_pod = $3 AND state IN ('Starting', 'Running')"),
    [held.jobId, held.attempt, held.podUid],
  )
  if (rowCount) return true
  const trained = await pool.query(
    `SELECT FROM training.jobs
     WHERE id = $1 AND attempt = $2 AND holder_pod = $3 AND state IN ('Publishing', 'Succeeded')`,
    [held.jobId, held.attempt, held.podUid],
  )
  return trained.rowCount === 1
}

function renewSql(condition: string): string {
  return `UPDATE training.jobs SET lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    WHERE ${condition}`
}

function isSecondActiveJob(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'jobs_one_active_per_model'
}
