// Ends jobs: moves them to Succeeded, Failed or Cancelled, and writes their last event.

import { isTerminal, type JobState, type TerminalState } from '../../crds/job-states.ts'
import { waitForLeases, type EndedLeases } from '../changes.ts'
import { chargeAttempt } from './charge-attempt.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import type { JobFailure } from './attempts.ts'
import { unfinished } from './states.ts'
import { markStopping } from './stopping-attempts.ts'
import { listUnreportedWarnings } from './warnings.ts'

interface Ending {
  state: TerminalState
  type: 'training_ended' | 'training_failed'
  data: Record<string, unknown>
  failure?: JobFailure
}

const cancelledEnding: Ending = { state: 'Cancelled', type: 'training_failed', data: { error_message: 'cancelled' } }

/**
 * Moves a job from Publishing to Succeeded and writes its `training_ended`. Returns true if this call ended it.
 *
 * @param _leases shows that no gateway still has an older step in memory as the newest. The transaction that made the
 *   step did not wait for that: it was a trainer's report.
 */
export async function finishJob(pool: Pool, jobId: string, _leases: EndedLeases): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (state !== 'Publishing') return false
    await endTrained(connection, jobId)
    return true
  })
}

/**
 * Moves an unfinished job to Failed and writes its `training_failed`. Returns true if this call ended it. A job in
 * Publishing stays: it is trained, and later errors do not change that.
 */
export async function failJob(pool: Pool, jobId: string, failure: JobFailure): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (!isUnfinished(state) || state === 'Publishing') return false
    await markStopping(connection, jobId)
    await endFailed(connection, jobId, failure)
    return true
  })
}

/**
 * Cancels an unfinished job and writes its `training_failed`. Returns true if this call ended it. A job in Publishing
 * ends as Succeeded instead: clients already see its new step.
 */
export async function cancelJob(pool: Pool, jobId: string): Promise<boolean> {
  const ended = await withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (!isUnfinished(state)) return false
    if (state === 'Publishing') return undefined
    await endJob(connection, jobId, cancelledEnding)
    return true
  })
  if (ended !== undefined) return ended
  return finishJob(pool, jobId, await waitForLeases(pool))
}

/** The result of a cancellation: whether this call ended the job, and the state of the job. */
export interface Cancellation {
  ended: boolean
  state: JobState | 'unknown'
}

/** Cancels a job without a checkpoint. A job with a checkpoint, or an ended one, stays as it is. */
export async function cancelUntrainedJob(pool: Pool, jobId: string): Promise<Cancellation> {
  return withTransaction(pool, async (connection) => {
    const state = await lockState(connection, jobId)
    if (!isUnfinished(state) || state === 'Publishing') return { ended: false, state: state ?? 'unknown' }
    await connection.query('UPDATE training.jobs SET cancel_requested_at = clock_timestamp() WHERE id = $1', [jobId])
    await endJob(connection, jobId, cancelledEnding)
    return { ended: true, state: cancelledEnding.state }
  })
}

/** Locks the unfinished jobs of a model and returns their ids. */
export async function lockModelJobs(connection: Connection, model: { id: string; entity?: string }): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `SELECT id FROM training.jobs
     WHERE model_id = $1 AND ($2::text IS NULL OR entity = $2) AND state ${unfinished}
     ORDER BY id FOR UPDATE`,
    [model.id, model.entity ?? null],
  )
  return rows.map(({ id }) => id)
}

/** Cancels these jobs, because their model is deleted. The caller has locked their rows. */
export async function cancelModelJobs(connection: Connection, ids: string[]): Promise<void> {
  for (const id of ids) await endJob(connection, id, cancelledEnding)
}

/** `training_ended` contains the warnings that came after `training_started`. */
async function endTrained(connection: Connection, jobId: string): Promise<void> {
  const warnings = await listUnreportedWarnings(connection, jobId)
  const data = warnings.length > 0 ? { warnings } : {}
  await endJob(connection, jobId, { state: 'Succeeded', type: 'training_ended', data })
}

export async function endFailed(
  connection: Connection,
  jobId: string,
  failure: JobFailure,
  tries?: number,
): Promise<void> {
  const suffix = tries !== undefined && tries > 1 ? ` (tried ${tries} times)` : ''
  const data = { error_message: failure.message + suffix }
  await endJob(connection, jobId, { state: 'Failed', type: 'training_failed', data, failure })
}

/** The row lock orders all writers of a job's events, so that the terminal event is the last one. */
async function lockState(connection: Connection, jobId: string): Promise<JobState | undefined> {
  const { rows } = await connection.query<{ state: JobState }>(
    'SELECT state FROM training.jobs WHERE id = $1 FOR UPDATE',
    [jobId],
  )
  return rows[0]?.state
}

function isUnfinished(state: JobState | undefined): state is JobState {
  return state !== undefined && !isTerminal(state)
}

async function endJob(connection: Connection, jobId: string, ending: Ending): Promise<void> {
  if (ending.state === 'Cancelled') await markStopping(connection, jobId)
  // An attempt that succeeds was charged with its checkpoint.
  if (ending.state !== 'Succeeded') await chargeAttempt(connection, jobId, true)
  await connection.query(
    `UPDATE training.jobs SET state = $2, failure = $3, finished_at = clock_timestamp(), lease_expires_at = NULL
     WHERE id = $1`,
    [jobId, ending.state, ending.failure ?? null],
  )
  // Seq 0 is reserved for `training_started`, even if the job ends without it.
  await connection.query(
    `INSERT INTO training.events (job_id, seq, type, data)
     SELECT $1, coalesce(max(seq), 0) + 1, $2, $3 FROM training.events WHERE job_id = $1`,
    [jobId, ending.type, ending.data],
  )
}
