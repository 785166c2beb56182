// Records the reports of trainers: moves jobs to Running with their events, and to Publishing with their checkpoint.

import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { leaseSeconds, type Attempt, type ReportOutcome, type JobFailure } from './attempts.ts'
import { lockAttempt, type HeldJob } from './lock-attempt.ts'
import { giveJobBack, releaseJob } from './requeue.ts'
import { eventsKind } from '../webhooks/read-outbox.ts'
import { countSteps, lockStepCount, stepType } from '../model-metrics/number-steps.ts'
import { pickNewWarnings, type JobWarning } from './warnings.ts'
import { chargeAttempt } from './charge-attempt.ts'
import { logMeans, logSteps } from './metric-logging.ts'

/** An event with its trainer's number: 0 is `training_started`, k is the k-th `gradient_step`. */
export interface ReportedEvent {
  seq: number
  type: string
  data: Record<string, unknown>
  /** For `training_started`: the inputs that the trainer cannot train on. */
  warnings?: JobWarning[] | undefined
}

/** A written checkpoint: its address and digest in the artifact store, and the metrics of its training. */
export interface ReportedCheckpoint {
  uri: string
  digest: string
  metrics: Record<string, unknown>
  /** Warnings that only appeared at the end. */
  warnings?: JobWarning[] | undefined
}

/** Adds the events that the job does not have yet, updates its progress, and renews the lease. */
export async function recordEvents(pool: Pool, attempt: Attempt, events: ReportedEvent[]): Promise<ReportOutcome> {
  return withTransaction(pool, async (connection) => {
    const job = await lockAttempt(connection, attempt)
    if (!job) return 'fenced'
    if (!job.holds) return (await hasEvents(connection, job.id, events)) ? 'recorded' : 'fenced'
    const reported = events.map((event) => (isStart(event) ? describeStart(job, event) : event))
    await insertEvents(connection, job, reported)
    await moveProgress(connection, job.id, reported)
    return 'recorded'
  })
}

/** Writes the checkpoint's row, the model's step and the state Publishing in one transaction. */
export async function recordCheckpoint(
  pool: Pool,
  attempt: Attempt,
  checkpoint: ReportedCheckpoint,
): Promise<ReportOutcome> {
  return withTransaction(pool, async (connection) => {
    const job = await lockAttempt(connection, attempt)
    if (!job) return 'fenced'
    // A checkpoint with another id than the claim's does not belong to this attempt.
    if (!checkpoint.uri.endsWith(`/${job.checkpointId}`)) return 'fenced'
    if (!job.holds) return (await hasCheckpoint(connection, job, checkpoint)) ? 'recorded' : 'fenced'
    await insertCheckpoint(connection, job, checkpoint)
    return 'recorded'
  })
}

/** Fails the job, or puts it back into the queue if the failure is retryable and attempts are left. */
export async function recordFailure(pool: Pool, attempt: Attempt, reported: JobFailure): Promise<ReportOutcome> {
  const failure = { ...reported, retryable: reported.retryable && reported.category !== 'User' }
  return withTransaction(pool, async (connection) => {
    const job = await lockAttempt(connection, attempt)
    if (!job) return 'fenced'
    if (!job.holds) return isSameFailure(job.failure, failure) ? 'recorded' : 'fenced'
    await releaseJob(connection, job.id, failure)
    return 'recorded'
  })
}

/**
 * Puts the job back into the queue, because its trainer is being stopped. This counts neither as a failure nor as a
 * retry.
 */
export async function recordRelease(pool: Pool, attempt: Attempt): Promise<ReportOutcome> {
  return withTransaction(pool, async (connection) => {
    const job = await lockAttempt(connection, attempt)
    if (!job) return 'fenced'
    if (!job.holds) return job.state === 'Queued' ? 'recorded' : 'fenced'
    await giveJobBack(connection, job.id)
    return 'recorded'
  })
}

function isStart({ type }: ReportedEvent): boolean {
  return type === 'training_started'
}

/** Returns a `training_started` with all warnings of its job so far. Its own warnings are also kept separately. */
function describeStart({ creationWarnings }: HeldJob, { warnings = [], ...start }: ReportedEvent): ReportedEvent {
  const own = pickNewWarnings(creationWarnings, warnings)
  const all = [...creationWarnings, ...own]
  const { warnings: _, ...data } = start.data
  return { ...start, data: { ...data, ...(all.length > 0 && { warnings: all }) }, warnings: own }
}

/** The job's row is locked: nobody else adds events that the job does not have. */
async function insertEvents(connection: Connection, job: HeldJob, events: ReportedEvent[]): Promise<void> {
  const earlier = events.some(({ type }) => type === stepType) ? await lockStepCount(connection, job.modelId) : 0
  const { rows } = await connection.query<{ seq: number; isStep: boolean }>(
    `INSERT INTO training.events (job_id, seq, type, data, model_id, model_step, model_index)
     SELECT $1, seq, type, data, CASE WHEN is_step THEN $3::uuid END, CASE WHEN is_step THEN $4::integer END,
       CASE WHEN is_step THEN $5 + count(*) FILTER (WHERE is_step) OVER (ORDER BY seq) - 1 END
     FROM (
       SELECT DISTINCT ON (seq) seq, type, data, type = '${stepType}' AS is_step
       FROM jsonb_to_recordset($2) AS reported (seq integer, type text, data jsonb)
       WHERE NOT EXISTS (SELECT FROM training.events e WHERE e.job_id = $1 AND e.seq = reported.seq) ORDER BY seq
     ) AS fresh ORDER BY seq RETURNING seq, model_index IS NOT NULL AS "isStep"`,
    [job.id, JSON.stringify(events), job.modelId, job.step, earlier],
  )
  const fresh = new Set(rows.filter(({ isStep }) => isStep).map(({ seq }) => seq))
  await countSteps(connection, { modelId: job.modelId, earlier, added: fresh.size })
  const steps = new Map(events.filter(({ seq }) => fresh.has(seq)).map((event) => [event.seq, event]))
  await logSteps(
    connection,
    job,
    [...steps.values()].toSorted((a, b) => a.seq - b.seq),
  )
  if (rows.length > 0) await recordNewEvents(connection, job, rows)
}

/** For those who follow the changes of an entity. */
async function recordNewEvents(
  connection: Connection,
  job: HeldJob,
  events: readonly { seq: number }[],
): Promise<void> {
  const seqs = events.map(({ seq }) => seq)
  await connection.query(
    `INSERT INTO training.outbox (entity, project, kind, subject_id, data)
     SELECT entity, project, '${eventsKind}', id, jsonb_build_object('model_id', model_id, 'from', $2::integer, 'to', $3::integer)
     FROM training.jobs WHERE id = $1`,
    [job.id, Math.min(...seqs), Math.max(...seqs)],
  )
}

async function moveProgress(connection: Connection, jobId: string, events: ReportedEvent[]): Promise<void> {
  const start = events.find(isStart)
  await connection.query(
    `UPDATE training.jobs SET state = 'Running', progress_step = greatest(progress_step, $2),
       progress_total = coalesce($3, progress_total), training_warnings = coalesce($4, training_warnings),
       started_at = coalesce(started_at, clock_timestamp()), reported_at = clock_timestamp(),
       lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
     WHERE id = $1`,
    [
      jobId,
      Math.max(0, ...events.map((event) => event.seq)),
      start?.data['num_sequences'] ?? null,
      start ? JSON.stringify(start.warnings) : null,
    ],
  )
}

async function insertCheckpoint(connection: Connection, job: HeldJob, checkpoint: ReportedCheckpoint): Promise<void> {
  await chargeAttempt(connection, job.id, true)
  // The model's row is locked first, so that its checkpoints become visible in the order of their positions.
  await connection.query('UPDATE training.models SET last_step = greatest(last_step, $2) WHERE id = $1', [
    job.modelId,
    job.step,
  ])
  await connection.query(
    `INSERT INTO training.checkpoints (id, model_id, job_id, step, uri, digest, metrics)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [job.checkpointId, job.modelId, job.id, job.step, checkpoint.uri, checkpoint.digest, checkpoint.metrics],
  )
  await logMeans(connection, job, checkpoint.metrics)
  const late = pickNewWarnings([...job.creationWarnings, ...job.trainingWarnings], checkpoint.warnings ?? [])
  await connection.query(
    `UPDATE training.jobs SET state = 'Publishing', failure = NULL, lease_expires_at = NULL,
       training_warnings = training_warnings || $2, trained_at = clock_timestamp(),
       started_at = coalesce(started_at, claimed_at) WHERE id = $1`,
    [job.id, JSON.stringify(late)],
  )
}

async function hasEvents(connection: Connection, jobId: string, events: ReportedEvent[]): Promise<boolean> {
  const { rows } = await connection.query<{ seq: number; type: string }>(
    'SELECT seq, type FROM training.events WHERE job_id = $1 AND seq = ANY ($2)',
    [jobId, events.map((event) => event.seq)],
  )
  const types = new Map(rows.map((row) => [row.seq, row.type]))
  return events.every((event) => types.get(event.seq) === event.type)
}

async function hasCheckpoint(connection: Connection, job: HeldJob, checkpoint: ReportedCheckpoint): Promise<boolean> {
  const { rowCount } = await connection.query(
    'SELECT FROM training.checkpoints WHERE job_id = $1 AND id = $2 AND uri = $3 AND digest = $4',
    [job.id, job.checkpointId, checkpoint.uri, checkpoint.digest],
  )
  return rowCount === 1
}

function isSameFailure(known: JobFailure | null, reported: JobFailure): boolean {
  return (
    known !== null &&
    known.category === reported.category &&
    known.reason === reported.reason &&
    known.message === reported.message
  )
}
