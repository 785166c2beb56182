import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { leaseSeconds, type JobFailure } from './attempts.ts'
import { logGivenBack, logLostTrainer } from './logs.ts'
import { newestProgressFirst } from './progress.ts'
import { listUntoldWarnings } from './warnings.ts'
import { chargeAttempt } from '../accounts/training-usage.ts'

/** What became of a job whose attempt ended without a checkpoint. */
export interface ReleasedJob {
  id: string
  attempt: number
  state: 'Queued' | 'Failed'
}

interface Ending {
  state: 'Succeeded' | 'Failed' | 'Cancelled'
  type: 'training_ended' | 'training_failed'
  data: Record<string, unknown>
  failure?: JobFailure
}

const cancelledEnding: Ending = { state: 'Cancelled', type: 'training_failed', data: { error_message: 'cancelled' } }

/** Publishing to Succeeded, with its `training_ended`. True when this call ended it. */
export async function finishJob(pool: Pool, jobId: string): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (state !== 'Publishing') return false
    await endTrained(connection, jobId)
    return true
  })
}

/**
 * An unfinished job to Failed, with its `training_failed`. True when this call ended it. A job that has its checkpoint
 * (Publishing) has been trained: what goes wrong after that fails nobody's training.
 */
export async function failJob(pool: Pool, jobId: string, failure: JobFailure): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (!isUnfinished(state) || state === 'Publishing') return false
    await endFailed(connection, jobId, failure)
    return true
  })
}

/**
 * An unfinished job to Cancelled, with its `training_failed`. True when this call ended it. It comes too late for a job
 * that has its checkpoint (Publishing): clients already see the new step, so the job ends as Succeeded.
 */
export async function cancelJob(pool: Pool, jobId: string): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (!isUnfinished(state)) return false
    await (state === 'Publishing' ? endTrained(connection, jobId) : endJob(connection, jobId, cancelledEnding))
    return true
  })
}

/** What became of a wish to cancel a job: it has just ended so, or the state that it has, and keeps. */
export interface Cancellation {
  ended: boolean
  state: string
}

/** Cancels a job that is not trained yet. One that has its checkpoint, or has ended, stays as it is. */
export async function cancelUntrainedJob(pool: Pool, jobId: string): Promise<Cancellation> {
  return withTransaction(pool, async (connection) => {
    const state = (await lockState(connection, jobId)) ?? 'unknown'
    if (!isUnfinished(state) || state === 'Publishing') return { ended: false, state }
    await connection.query('UPDATE training.jobs SET cancel_requested_at = clock_timestamp() WHERE id = $1', [jobId])
    await endJob(connection, jobId, cancelledEnding)
    return { ended: true, state: cancelledEnding.state }
  })
}

/** Locks the unfinished jobs of a model and gives their ids. */
export async function lockModelJobs(connection: Connection, model: { id: string; entity?: string }): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `SELECT id FROM training.jobs
     WHERE model_id = $1 AND ($2::text IS NULL OR entity = $2) AND state NOT IN ('Succeeded', 'Failed', 'Cancelled')
     ORDER BY id FOR UPDATE`,
    [model.id, model.entity ?? null],
  )
  return rows.map(({ id }) => id)
}

/** Ends these jobs, whose rows the caller has locked, as Cancelled: their model goes, with what they made. */
export async function cancelModelJobs(connection: Connection, ids: string[]): Promise<void> {
  for (const id of ids) await endJob(connection, id, cancelledEnding)
}

/** Releases the jobs whose trainer let its lease run out: back to the queue, or Failed after the last attempt. */
export async function sweepExpiredLeases(pool: Pool): Promise<ReleasedJob[]> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ id: string }>(
      `SELECT id FROM training.jobs
       WHERE state IN ('Starting', 'Running') AND lease_expires_at < clock_timestamp()
       ORDER BY id FOR UPDATE SKIP LOCKED`,
    )
    return releaseLostJobs(connection, rows)
  })
}

/**
 * Ends the attempts of these jobs, whose rows the caller has locked, because their trainer is gone. Where it worked on
 * several, nobody can tell which of them ended it: the attempt counts for none, and each is tried again by itself.
 */
export async function releaseLostJobs(connection: Connection, jobs: { id: string }[]): Promise<ReleasedJob[]> {
  const released: ReleasedJob[] = []
  for (const { id } of jobs) {
    const shared = await excuseShared(connection, id)
    const message = shared ? `${trainerLost.message}. ${notAlone}` : trainerLost.message
    const job = await releaseJob(connection, id, { ...trainerLost, message })
    await logLostTrainer(connection, job, message)
    released.push(job)
  }
  return released
}

/** Takes an attempt out of the count if others were there at its last sign of life, or after it; true if they were. */
async function excuseShared(connection: Connection, jobId: string): Promise<boolean> {
  const { rowCount } = await connection.query(
    `UPDATE training.jobs j SET releases = releases + 1 WHERE id = $1 AND EXISTS (
       SELECT FROM training.job_attempts other
       WHERE other.pod = j.holder_pod AND other.job_id <> j.id
         AND other.ended_at > j.lease_expires_at - make_interval(secs => ${leaseSeconds}))`,
    [jobId],
  )
  return rowCount === 1
}

const notAlone = 'It worked on other jobs, too, so that this attempt does not count, and the next one runs by itself'

const trainerLost: JobFailure = {
  category: 'Internal',
  reason: 'TrainerLost',
  message: "The trainer stopped without a report. It may have run out of memory: see the trainer pod's state and log",
  retryable: true,
}

/**
 * Ends an attempt without a checkpoint; the caller has locked the row. A retryable failure puts the job back into the
 * queue, where it keeps its place, as long as it has attempts left; every other one fails it.
 */
export async function releaseJob(connection: Connection, jobId: string, failure: JobFailure): Promise<ReleasedJob> {
  const { rows } = await connection.query<{ attempt: number; tries: number; exhausted: boolean }>(
    `SELECT attempt, attempt - releases AS tries, attempt - releases >= max_attempts AS exhausted
     FROM training.jobs WHERE id = $1`,
    [jobId],
  )
  const { attempt = 0, tries = 0, exhausted = true } = rows[0] ?? {}
  if (!failure.retryable || exhausted) {
    await endFailed(connection, jobId, failure, failure.retryable ? tries : undefined)
    return { id: jobId, attempt, state: 'Failed' }
  }
  await requeueJob(connection, jobId, failure)
  return { id: jobId, attempt, state: 'Queued' }
}

/**
 * Ends an attempt whose trainer is being stopped; the caller has locked the row. The job goes back into the queue, where
 * it keeps its place, and the attempt counts for nothing.
 */
export async function giveJobBack(connection: Connection, jobId: string): Promise<void> {
  const { rows } = await connection.query<{ attempt: number; saved: number | null }>(
    `UPDATE training.jobs SET releases = releases + 1 WHERE id = $1 RETURNING attempt,
       (SELECT p.step FROM training.job_progress p WHERE p.job_id = jobs.id ${newestProgressFirst} LIMIT 1) AS saved`,
    [jobId],
  )
  const { attempt = 0, saved = null } = rows[0] ?? {}
  const goesOn = saved === null ? 'starts it anew' : `goes on behind gradient step ${saved}`
  const message = `Its trainer was stopped and gave the job back; the next one ${goesOn}`
  await requeueJob(connection, jobId, { ...trainerStopped, message })
  await logGivenBack(connection, { id: jobId, attempt }, message)
}

const trainerStopped = { category: 'Internal', reason: 'TrainerStopped', retryable: true } as const

async function requeueJob(connection: Connection, jobId: string, failure: JobFailure): Promise<void> {
  await chargeAttempt(connection, jobId, false)
  await connection.query(
    `UPDATE training.jobs SET state = 'Queued', failure = $2, holder_pod = NULL, holder_process = NULL,
       lease_expires_at = NULL, checkpoint_id = NULL, step = NULL WHERE id = $1`,
    [jobId, failure],
  )
}

/** `training_ended` tells what only showed after the start. */
async function endTrained(connection: Connection, jobId: string): Promise<void> {
  const warnings = await listUntoldWarnings(connection, jobId)
  const data = warnings.length > 0 ? { warnings } : {}
  await endJob(connection, jobId, { state: 'Succeeded', type: 'training_ended', data })
}

async function endFailed(connection: Connection, jobId: string, failure: JobFailure, tries?: number): Promise<void> {
  const suffix = tries !== undefined && tries > 1 ? ` (tried ${tries} times)` : ''
  const data = { error_message: failure.message + suffix }
  await endJob(connection, jobId, { state: 'Failed', type: 'training_failed', data, failure })
}

/** The row lock orders all writers of a job's events, so that the terminal event is the last one. */
async function lockState(connection: Connection, jobId: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ state: string }>(
    'SELECT state FROM training.jobs WHERE id = $1 FOR UPDATE',
    [jobId],
  )
  return rows[0]?.state
}

function isUnfinished(state: string | undefined): boolean {
  return state !== undefined && !['Succeeded', 'Failed', 'Cancelled'].includes(state)
}

async function endJob(connection: Connection, jobId: string, ending: Ending): Promise<void> {
  await chargeAttempt(connection, jobId, true)
  await connection.query(
    `UPDATE training.jobs SET state = $2, failure = $3, finished_at = clock_timestamp(), lease_expires_at = NULL
     WHERE id = $1`,
    [jobId, ending.state, ending.failure ?? null],
  )
  // Seq 0 stays the start's, also where a job ends without one.
  await connection.query(
    `INSERT INTO training.events (job_id, seq, type, data)
     SELECT $1, coalesce(max(seq), 0) + 1, $2, $3 FROM training.events WHERE job_id = $1`,
    [jobId, ending.type, ending.data],
  )
}
