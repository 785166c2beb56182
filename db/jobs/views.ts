import { countUpTo } from '../count-up-to.ts'
import { pickColumns, selectColumns, type RowOf } from '../columns.ts'
import type { JobPhase } from '../../crds/job-states.ts'
import type { Pool } from '../pool.ts'
import { findQueuePositions, type QueuePosition } from './queue.ts'
import type { QueueDeps } from './queue-blocks.ts'
import { phaseOf } from './states.ts'
import { jobColumns, jobSpecColumns } from './table.ts'
import { warningsOfJob, type JobWarning } from './warnings.ts'

const columns = {
  ...jobSpecColumns,
  ...pickColumns(jobColumns, 'id', 'modelId', 'attempt', 'experimentalConfig', 'trainingDataUrl', 'retryOf'),
  ...pickColumns(jobColumns, 'progressStep', 'progressTotal', 'failure', 'createdAt', 'queuedAt', 'claimedAt'),
  ...pickColumns(jobColumns, 'startedAt', 'trainedAt', 'finishedAt', 'suspendAsked', 'waitingReason'),
}

interface Row extends RowOf<typeof columns> {
  state: JobPhase
  /** Attempts that a stopped trainer gave back do not count: each of them raises this by one. */
  maxAttempts: number
  /** The step of its checkpoint, even if that was deleted; null before there is one. */
  step: number | null
  warnings: JobWarning[]
  /** Its checkpoint, unless that was deleted. */
  checkpoint: { id: string; step: number } | null
}

/** A job as its owner sees it. */
export interface JobView extends Row {
  /** The position of a Queued job; null for other jobs, and for one that was just claimed. */
  queue: QueuePosition | null
}

/** Selects jobs of an entity. */
export interface JobFilter {
  entity: string
  modelId?: string | undefined
  project?: string | undefined
  method?: string | undefined
  states?: string[] | undefined
  /** Inclusive. */
  createdAfter?: Date | undefined
  /** Exclusive. */
  createdBefore?: Date | undefined
}

const phase = phaseOf('j')

const select = `SELECT ${selectColumns(columns, 'j')}, ${phase} AS state, j.max_attempts + j.releases AS "maxAttempts",
    (SELECT c.step FROM training.checkpoints c WHERE c.job_id = j.id) AS step, ${warningsOfJob} AS warnings,
    (SELECT json_build_object('id', c.id, 'step', c.step)
     FROM training.checkpoints c WHERE c.job_id = j.id AND c.deleted_at IS NULL) AS checkpoint
  FROM training.jobs j`

async function addQueuePositions(deps: QueueDeps, jobs: Row[]): Promise<JobView[]> {
  const positions = await findQueuePositions(deps, jobs)
  return jobs.map((job) => ({ ...job, queue: positions.get(job.id) ?? null }))
}

/** Finds a job of an entity. */
export async function findJob(deps: QueueDeps, entity: string, id: string): Promise<JobView | undefined> {
  const { rows } = await deps.pool.query<Row>(`${select} WHERE j.id = $1 AND j.entity = $2`, [id, entity])
  return (await addQueuePositions(deps, rows))[0]
}

/** Whether an entity has this job. */
export async function hasJob(pool: Pool, entity: string, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM training.jobs WHERE id = $1 AND entity = $2', [id, entity])
  return rowCount === 1
}

// Columns that never change. Each query is planned with its values, so that an absent filter costs nothing.
const fixedFilter = `j.entity = $1 AND ($2::uuid IS NULL OR j.model_id = $2) AND ($3::text IS NULL OR j.project = $3)
  AND ($4::text IS NULL OR j.method = $4) AND ($5::timestamptz IS NULL OR j.created_at >= $5)
  AND ($6::timestamptz IS NULL OR j.created_at < $6)`

function fixedValues(filter: JobFilter): unknown[] {
  const { entity, modelId, project, method, createdAfter, createdBefore } = filter
  return [entity, modelId, project, method, createdAfter, createdBefore].map((value) => value ?? null)
}

/** The position of a job in a filter's list, even if its state has changed since it was listed. */
export async function findJobArrival(pool: Pool, filter: JobFilter, id: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ arrival: number }>(
    `SELECT j.arrival FROM training.jobs j WHERE ${fixedFilter} AND j.id = $7`,
    [...fixedValues(filter), id],
  )
  return rows[0]?.arrival
}

const filtered = `${fixedFilter} AND ($7::text[] IS NULL OR ${phase} = ANY ($7))`

/** Counts an entity's jobs, up to `most`. */
export function countJobs(pool: Pool, filter: JobFilter, most: number): Promise<number> {
  const values = [...fixedValues(filter), filter.states ?? null]
  return countUpTo(pool, { text: `SELECT FROM training.jobs j WHERE ${filtered}`, values }, most)
}

/** Lists a page of an entity's jobs that follow the arrival `after` in the given order. */
export async function listJobs(
  deps: QueueDeps,
  filter: JobFilter,
  page: { after: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<JobView[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await deps.pool.query<Row>(
    `${select} WHERE ${filtered}
       AND ($8::bigint IS NULL OR j.arrival ${comparison} $8) ORDER BY j.arrival ${direction} LIMIT $9`,
    [...fixedValues(filter), filter.states ?? null, page.after ?? null, page.limit],
  )
  return addQueuePositions(deps, rows)
}
