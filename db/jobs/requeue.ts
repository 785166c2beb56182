// Ends attempts without a checkpoint: moves jobs from Starting and Running back to Queued. After the last attempt, or a
// failure that is not retryable, endings.ts fails the job.

import { chargeAttempt } from './charge-attempt.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { leaseSeconds, type JobFailure } from './attempts.ts'
import { endFailed } from './endings.ts'
import { logGivenBack, logLostTrainer } from './logs.ts'
import { markLost } from './lost-attempts.ts'
import { newestProgressFirst } from './progress.ts'
import { couldReport } from './report-service.ts'
import { held } from './states.ts'
import { markStopping } from './stopping-attempts.ts'

/** The result for a job whose attempt ended without a checkpoint. */
export interface ReleasedJob {
  id: string
  attempt: number
  state: 'Queued' | 'Failed'
}

/**
 * Puts jobs whose lease has expired back into the queue. Nothing expires after an outage, until trainers could report
 * again.
 */
export async function releaseExpiredLeases(pool: Pool): Promise<ReleasedJob[]> {
  return withTransaction(pool, async (connection) => {
    if (!(await couldReport(connection))) return []
    const { rows } = await connection.query<{ id: string }>(
      `SELECT id FROM training.jobs
       WHERE state ${held} AND lease_expires_at < clock_timestamp()
       ORDER BY id FOR UPDATE SKIP LOCKED`,
    )
    return endLostAttempts(connection, rows, requeueUndecided)
  })
}

/** Ends the attempts of these jobs because their process was replaced. The caller has locked their rows. */
export function releaseLostJobs(connection: Connection, jobs: { id: string }[]): Promise<ReleasedJob[]> {
  return endLostAttempts(connection, jobs, releaseJob)
}

type Release = (connection: Connection, jobId: string, failure: JobFailure) => Promise<ReleasedJob>

/**
 * If a lost trainer had several jobs, any of them may be the cause: the attempt counts for none, and each job is tried
 * alone next.
 */
async function endLostAttempts(
  connection: Connection,
  jobs: { id: string }[],
  releaseAlone: Release,
): Promise<ReleasedJob[]> {
  const released: ReleasedJob[] = []
  for (const { id } of jobs) {
    const shared = await excuseShared(connection, id)
    const message = shared ? `${trainerLost.message}. ${notAlone}` : trainerLost.message
    const release = shared ? releaseJob : releaseAlone
    const job = await release(connection, id, { ...trainerLost, message })
    await logLostTrainer(connection, job, message)
    released.push(job)
  }
  return released
}

/** Whether the attempt counts is decided later, from what became of its pod. */
async function requeueUndecided(connection: Connection, jobId: string, failure: JobFailure): Promise<ReleasedJob> {
  const attempt = await markLost(connection, jobId)
  await markStopping(connection, jobId)
  await requeueJob(connection, jobId, failure)
  return { id: jobId, attempt, state: 'Queued' }
}

/**
 * Does not count an attempt if other attempts were on the trainer at its last sign of life or later. Returns whether
 * there were any.
 */
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

const notAlone = 'Its trainer also ran other jobs. This attempt therefore does not count, and the next one runs alone'

const trainerLost: JobFailure = {
  category: 'Internal',
  reason: 'TrainerLost',
  message: "The trainer stopped without a report. It may have run out of memory: see the trainer pod's state and log",
  retryable: true,
}

/**
 * Ends an attempt without a checkpoint. The caller has locked the row. After a retryable failure with attempts left,
 * the job returns to its place in the queue. Otherwise it fails.
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
 * Ends an attempt whose trainer is being stopped. The caller has locked the row. The job returns to its place in the
 * queue, and the attempt does not count.
 */
export async function giveJobBack(connection: Connection, jobId: string): Promise<void> {
  const { rows } = await connection.query<{ attempt: number; saved: number | null }>(
    `UPDATE training.jobs SET releases = releases + 1 WHERE id = $1 RETURNING attempt,
       (SELECT p.step FROM training.job_progress p WHERE p.job_id = jobs.id ${newestProgressFirst} LIMIT 1) AS saved`,
    [jobId],
  )
  const { attempt = 0, saved = null } = rows[0] ?? {}
  const goesOn = saved === null ? 'starts it again' : `continues after gradient step ${saved}`
  const message = `Its trainer was stopped and returned the job to the queue; the next attempt ${goesOn}`
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
