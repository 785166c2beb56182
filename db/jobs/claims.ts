// Assigns jobs to trainers: moves them from Queued to Starting.

import { sqlKey, sqlUri } from '../../artifacts/layout.ts'
import pg from 'pg'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { goesAlone, leaseSeconds } from './attempts.ts'
import { failJob } from './endings.ts'
import { awaitsVerdict } from './lost-attempts.ts'
import { chargeClaimed, fairFirst, fairOrder } from './fair-order.ts'
import { renewSql } from './leases.ts'
import { ReferenceMissing } from './missing-reference.ts'
import { releaseLostJobs } from './requeue.ts'
import { newestProgressFirst } from './progress.ts'
import { hasPenalty, referenceStep } from './reference-steps.ts'
import type { TokenStatisticsSetting } from './token-statistics.ts'
import { held } from './states.ts'
import { dropOthers } from './stopping-attempts.ts'

/** A trainer process that asks for a job: its base model, its pod, its process in that pod, and its number of GPUs. */
export interface Claimant {
  baseModel: string
  podUid: string
  processId: string
  gpus: number
  /** The jobs that the process works on. */
  holding: string[]
  /** The only job that it may get: it is in a pod of this job. By default it gets jobs that have no pods of their own. */
  jobId?: string | undefined
}

/** The limits of entities for which none was set. */
export interface ClaimDefaults {
  weight: number
  gpuSecondsPerDay: number
}

/** A job that a trainer holds now, with everything that the training needs. */
export interface Claim {
  id: string
  attempt: number
  entity: string
  modelId: string
  /** As clients write it: `ENTITY/PROJECT/NAME`. */
  modelName: string
  baseModel: string
  method: string
  input: { uri: string; digest: string }
  config: Record<string, unknown>
  step: number
  checkpointId: string
  fromCheckpoint: { id: string; step: number; uri: string; digest: string } | null
  /** The last save of an earlier attempt. `step` counts gradient steps. */
  resume: { uri: string; digest: string; step: number } | null
  /** The checkpoint that the job's configuration names as reference; null for the base model. */
  reference: { uri: string; digest: string } | null
  tokenStatistics: TokenStatisticsSetting
  /** No other job waits for trainers like this one. One may be queued at any time. */
  isLast: boolean
}

/**
 * Assigns the first job in the fair order that can run now. The job is Queued for the trainer's base model, no other job
 * of its model is active, and no earlier job of its model is unfinished. Returns undefined if there is none, or if the
 * trainer is draining. A job that has pods of its own is assigned to one of these only, and these get no other.
 *
 * `defaults` hold for entities that have no weight or limit of their own. With `onlyLost`, no job is assigned, and only a
 * lost answer is given again.
 *
 * A job that must run alone waits for an idle trainer, and later jobs wait behind it: otherwise a busy trainer would
 * never become idle. A trainer that works on such a job gets no other job.
 *
 * The model is locked, so that a client's checkpoint gets another step (see `addCheckpoint`). An attempt after the first
 * begins from the same checkpoint, even if a client has added a newer one.
 *
 * Jobs of earlier processes of the pod are released first. A process may ask again without naming a job that was
 * assigned to it and that it has not reported on. Then it has lost the answer, and gets the same job in the same
 * attempt.
 */
export async function claimJob(
  pool: Pool,
  claimant: Claimant,
  defaults: ClaimDefaults = { weight: 1, gpuSecondsPerDay: Infinity },
  { onlyLost = false } = {},
): Promise<Claim | undefined> {
  const start = onlyLost
    ? async () => undefined
    : (connection: Connection) => startNextJob(connection, claimant, defaults)
  for (;;) {
    try {
      return await withTransaction(pool, (connection) => claimOnce(connection, claimant, start))
    } catch (error) {
      // The transaction is rolled back, so the job is not assigned. All earlier jobs are over, so the step will never
      // exist.
      if (error instanceof ReferenceMissing) await failJob(pool, error.jobId, error.describe())
      // An older job of the same model was queued and claimed after the snapshot of this transaction: look again.
      else if (!isSecondActiveJob(error)) throw error
    }
  }
}

interface Started {
  id: string
  isLast: boolean
}

async function claimOnce(
  connection: Connection,
  claimant: Claimant,
  start: (connection: Connection) => Promise<Started | undefined>,
): Promise<Claim | undefined> {
  // One claim per pod at a time. Otherwise a process whose client gave up the first request could get two jobs.
  // To plan the next job's query for each trainer takes Postgres longer than to execute it.
  await connection.query(
    `SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), set_config('plan_cache_mode', 'force_generic_plan', true)`,
    [claimant.podUid],
  )
  const lostAnswer = await releaseOlderWork(connection, claimant)
  const started = lostAnswer === undefined ? await start(connection) : { id: lostAnswer, isLast: false }
  return started && { ...(await readClaim(connection, started.id)), isLast: started.isLast }
}

/**
 * Releases the jobs of the pod's earlier processes, and records which ended ones the pod no longer works on. Returns the
 * first job whose claim this process has never received. Jobs that the process names are not locked: reports on them go on.
 * If the process does not name a running job, it may just be reporting the job's end, so that job is left to its lease.
 */
async function releaseOlderWork(connection: Connection, claimant: Claimant): Promise<string | undefined> {
  const { rows } = await connection.query<{ id: string; isOwn: boolean; lostAnswer: boolean }>(
    `WITH dropped AS (${dropOthers})
     SELECT id, holder_process = $2 AS "isOwn", state = 'Starting' AND id <> ALL ($3::uuid[]) AS "lostAnswer"
     FROM training.jobs WHERE holder_pod = $1 AND state ${held} AND (holder_process IS DISTINCT FROM $2 OR id <> ALL ($3::uuid[]))
     ORDER BY id FOR UPDATE`,
    [claimant.podUid, claimant.processId, claimant.holding],
  )
  await releaseLostJobs(
    connection,
    rows.filter((row) => !row.isOwn),
  )
  const given = rows.find((row) => row.isOwn && row.lostAnswer)?.id
  if (given !== undefined) await connection.query(renewSql('id = $1'), [given])
  return given
}

// How many jobs of an entity a claim may pass over: they are locked by other claims, or wait for a verdict.
const maxCandidates = 10

/** SQL: which models a claimant needs the order of, and which job it may get. */
const warm = { mode: 'Warm', ofModel: '', ofJob: '' }
const dedicated = {
  mode: 'Dedicated',
  ofModel: 'AND n.id = (SELECT own.model_id FROM training.jobs own WHERE own.id = $6)',
  ofJob: 'AND candidate.id = $6 AND NOT candidate.suspend',
}

async function startNextJob(
  connection: Connection,
  claimant: Claimant,
  defaults: ClaimDefaults,
): Promise<Started | undefined> {
  const { baseModel, podUid, processId, gpus, jobId } = claimant
  const { mode, ofModel, ofJob } = jobId === undefined ? warm : dedicated
  const models = `n.base_model = $1 AND n.deleted_at IS NULL ${ofModel}`
  const turn = `t.mode = '${mode}' AND t.earlier < ${maxCandidates}`
  const { rows } = await connection.query<Started>(
    `WITH ${fairOrder(models, defaults.gpuSecondsPerDay, turn)}, claimed AS (UPDATE training.jobs SET
       state = 'Starting', attempt = attempt + 1, holder_pod = $2, holder_process = $3,
       lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds}),
       checkpoint_id = gen_random_uuid(), step = next.step, reserved_step = next.step, progress_step = coalesce(next.saved, 0),
       progress_total = CASE WHEN next.saved IS NOT NULL THEN progress_total END,
       claimed_at = clock_timestamp(), started_at = NULL, gpus = $4
     FROM (
       SELECT candidate.*, ordered.base_model, ordered.next_start, ordered.job_seconds
       -- Sorted here, so that a candidate is only read if none before it can be assigned.
       FROM (SELECT * FROM ordered WHERE ordered.block IS NULL ORDER BY ${fairFirst}) ordered,
       LATERAL (
         SELECT candidate.id, coalesce(candidate.reserved_step, model.last_step + 1) AS step,
           (SELECT p.step FROM training.job_progress p WHERE p.job_id = candidate.id ${newestProgressFirst} LIMIT 1) AS saved,
           ${goesAlone('candidate')} AS "goesAlone",
           coalesce((SELECT e.weight FROM auth.entities e WHERE e.entity = candidate.entity), $5) AS weight
         FROM training.jobs candidate JOIN training.models model ON model.id = candidate.model_id
         WHERE candidate.id = ordered.id AND candidate.state = 'Queued' AND model.deleted_at IS NULL
           AND NOT EXISTS (SELECT FROM training.draining_trainers WHERE pod = $2)
           AND NOT ${awaitsVerdict('candidate')}
           AND candidate.mode = '${mode}' ${ofJob}
         FOR UPDATE OF candidate SKIP LOCKED FOR SHARE OF model
       ) candidate
       ORDER BY ${fairFirst} LIMIT 1
     ) next
     WHERE jobs.id = next.id AND NOT EXISTS (
       SELECT FROM training.jobs held WHERE held.holder_pod = $2 AND held.state ${held}
         AND (next."goesAlone" OR ${goesAlone('held')}))
     RETURNING jobs.id, jobs.attempt, jobs.claimed_at, jobs.mode, jobs.entity, next.base_model, next.next_start,
       next.job_seconds, next.weight), ${chargeClaimed}, begun AS (
     INSERT INTO training.job_attempts (job_id, attempt, pod, claimed_at, queue_cost, queue_weight)
     SELECT claimed.id, claimed.attempt, $2, claimed.claimed_at, charged.cost, charged.weight
     FROM claimed LEFT JOIN charged ON true
     RETURNING job_id AS id)
     SELECT begun.id, NOT EXISTS (SELECT FROM ordered WHERE ordered.id <> begun.id) AS "isLast" FROM begun`,
    [baseModel, podUid, processId, gpus, defaults.weight, ...(jobId === undefined ? [] : [jobId])],
  )
  return rows[0]
}

async function readClaim(connection: Connection, jobId: string): Promise<Omit<Claim, 'isLast'>> {
  const { rows } = await connection.query<Omit<Claim, 'isLast'> & { referenceStep: number }>(
    `SELECT job.id, job.attempt, job.entity, job.model_id AS "modelId",
       concat_ws('/', job.entity, model.project, model.name) AS "modelName", model.base_model AS "baseModel", job.method,
       jsonb_build_object('uri', job.input_uri, 'digest', job.input_digest) AS input, job.config, job.step,
       job.checkpoint_id AS "checkpointId",
       CASE WHEN start.id IS NOT NULL THEN jsonb_build_object('id', start.id, 'step', start.step, 'uri', start.uri,
         'digest', start.digest) END AS "fromCheckpoint",
       (SELECT jsonb_build_object('uri', ${sqlUri(sqlKey('progress', { job: 'p.job_id', save: 'p.id' }))}, 'digest', p.digest,
          'step', p.step)
        FROM training.job_progress p WHERE p.job_id = job.id ${newestProgressFirst} LIMIT 1) AS resume,
       named.step AS "referenceStep",
       (SELECT jsonb_build_object('uri', uri, 'digest', digest) FROM training.checkpoints
        WHERE model_id = job.model_id AND deleted_at IS NULL AND step = named.step) AS reference,
       coalesce((SELECT e.token_statistics FROM auth.entities e WHERE e.entity = job.entity), 'sampled')
         AS "tokenStatistics"
     FROM training.jobs job JOIN training.models model ON model.id = job.model_id
     LEFT JOIN LATERAL (SELECT id, step, uri, digest FROM training.checkpoints
       WHERE model_id = job.model_id AND deleted_at IS NULL AND step < job.step
       ORDER BY step DESC LIMIT 1) start ON true
     CROSS JOIN LATERAL (SELECT CASE WHEN ${hasPenalty('job')} THEN ${referenceStep('job', 'start.step')} ELSE 0 END AS step) named
     WHERE job.id = $1`,
    [jobId],
  )
  if (!rows[0]) throw new Error('a claimed job has no row')
  const { referenceStep: step, ...claim } = rows[0]
  if (step > 0 && !claim.reference) throw new ReferenceMissing(claim, step)
  return claim
}

function isSecondActiveJob(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'jobs_one_active_per_model'
}
