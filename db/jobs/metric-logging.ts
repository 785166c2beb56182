// Writes the metrics of SFT jobs into the runs of their models, where the client leaves this to the service (the setting
// `metric_logging` of ART). Rows are written in the transactions of the reports that they are made of.

import { isRowsMethod } from '../../crds/methods.ts'
import type { Connection } from '../pool.ts'
import { appendRows, type HistoryRow } from '../runs/append-rows.ts'
import type { HeldJob } from './lock-attempt.ts'

/** The names that ART gives the metrics of a job. Others keep theirs, behind the name of a section. */
export const artNames: Readonly<Record<string, string>> = {
  loss: 'loss/train',
  entropy: 'loss/entropy',
  grad_norm: 'loss/grad_norm',
  learning_rate: 'loss/learning_rate',
  num_trajectories: 'data/step_num_trajectories',
  num_trainable_tokens: 'data/step_trainable_assistant_tokens',
}

/** ART leaves it out. */
const isLogged = (key: string) => key !== 'tokens_per_second'

type LoggedJob = Pick<HeldJob, 'id' | 'method' | 'step' | 'metricLogging'>

/** Writes a row for each gradient step. */
export async function logSteps(
  connection: Connection,
  job: LoggedJob,
  steps: readonly { seq: number; data: Record<string, unknown> }[],
): Promise<void> {
  const target = findTarget(job)
  if (target === undefined || steps.length === 0) return
  const rows = steps.map(({ seq, data }) => ({
    'sft/gradient_step': seq,
    ...rename(data, (key) => `sft/${artNames[key] ?? key}`),
    training_step: target,
  }))
  await append(connection, await findRun(connection, job.id), rows)
}

/** Writes the row of a trained job: the means of its steps. A job without steps has none. */
export async function logMeans(connection: Connection, job: LoggedJob, means: Record<string, unknown>): Promise<void> {
  const target = findTarget(job)
  if (target === undefined) return
  const run = await findRun(connection, job.id)
  if (run.steps === 0) return
  const row = {
    ...rename(addUp(means, run.steps), (key) => artNames[key] ?? `train/${key}`),
    'data/step_num_gradient_steps': run.steps,
    'time/step_backend_train_s': run.seconds,
    training_step: target,
  }
  await append(connection, run, [row])
}

/** Methods on trajectories have no such setting: their clients log by themselves. */
function findTarget({ method, metricLogging, step }: LoggedJob): number | undefined {
  if (!isRowsMethod(method) || metricLogging?.enabled !== true) return undefined
  return metricLogging.target_training_step ?? step
}

/** The trajectories of a job are those of all its steps. */
function addUp(means: Record<string, unknown>, steps: number): Record<string, unknown> {
  const { num_trajectories: mean } = means
  return typeof mean === 'number' ? { ...means, num_trajectories: Math.round(mean * steps) } : means
}

function rename(values: Record<string, unknown>, nameOf: (key: string) => string): HistoryRow {
  const numbers = Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return Object.fromEntries(numbers.filter(([key]) => isLogged(key)).map(([key, value]) => [nameOf(key), value]))
}

interface JobRun {
  entity: string
  project: string
  name: string
  keyId: string | null
  steps: number
  /** How long the job has trained, over all its attempts. */
  seconds: number
}

/** The run of a job is that of its model. */
async function findRun(connection: Connection, jobId: string): Promise<JobRun> {
  const { rows } = await connection.query<JobRun>(
    `SELECT m.entity, m.project, m.name, j.key_id AS "keyId", j.progress_step AS steps,
       extract(epoch FROM clock_timestamp() - coalesce(j.started_at, j.claimed_at))::float8 AS seconds
     FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE j.id = $1`,
    [jobId],
  )
  return rows[0]!
}

function append(connection: Connection, { keyId, ...name }: JobRun, rows: HistoryRow[]): Promise<void> {
  return appendRows(connection, name, { keyId, rows })
}
