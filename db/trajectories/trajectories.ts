import { countUpTo } from '../count-up-to.ts'
import type { TrajectoryFlag } from './flags.ts'
import { column, readRecords, selectColumns, type RowOf } from '../columns.ts'
import type { Connection, Pool } from '../pool.ts'

/** The index columns that describe a trajectory. The rows come as JSON under the SQL names. */
const indexColumns = {
  groupIndex: column<number>('group_index', 'integer'),
  trajectoryIndex: column<number>('trajectory_index', 'integer'),
  groupExceptions: column<number>('group_exceptions', 'integer'),
  scenarioId: column<string | null>('scenario_id', 'text'),
  promptHash: column<string>('prompt_hash', 'text'),
  reward: column<number>('reward', 'double precision'),
  advantage: column<number | null>('advantage', 'double precision'),
  metrics: column<Record<string, number | boolean>>('metrics', 'jsonb'),
  tokens: column<number>('tokens', 'integer'),
  flags: column<TrajectoryFlag[]>('flags', 'text[]'),
  payloadOffset: column<number>('payload_offset', 'bigint'),
  payloadLength: column<number>('payload_length', 'bigint'),
}

/** The columns of `training.trajectories`, except for the step. */
export const trajectoryColumns = {
  id: column<string>('id', 'uuid'),
  modelId: column<string>('model_id', 'uuid'),
  jobId: column<string | null>('job_id', 'uuid'),
  logId: column<string | null>('log_id', 'uuid'),
  split: column<string>('split', 'text'),
  payloadUri: column<string>('payload_uri', 'text'),
  /** How strongly a trained trajectory moved the policy; null until its trainer reports it. */
  push: column<number | null>('push', 'double precision'),
  ...indexColumns,
}

/** The location of a trajectory, with what lists filter by. */
export interface TrajectoryRow extends RowOf<typeof trajectoryColumns> {
  /** The step of the log, or of the job's checkpoint; null while there is none. */
  step: number | null
  createdAt: Date
}

const given = readRecords(Object.fromEntries(Object.values(indexColumns).map((each) => [each.name, each])), 'r')

/** What all trajectories of a request body share. They come with a job or with a log. */
export interface TrajectorySource {
  modelId: string
  jobId?: string
  logId?: string
  split: string
  /** For a log only. */
  step?: number
  payloadUri: string
}

/** Inserts index rows that come as JSON arrays of objects. Each array is one statement; they run in order. */
export async function insertTrajectories(
  connection: Connection,
  source: TrajectorySource,
  batches: string[],
): Promise<void> {
  const { modelId, jobId = null, logId = null, split, step = null, payloadUri } = source
  for (const batch of batches) {
    await connection.query(
      `INSERT INTO training.trajectories (model_id, job_id, log_id, split, step, payload_uri, ${given.names})
       SELECT $1, $2, $3, $4, $5, $6, ${given.fields} FROM jsonb_to_recordset($7) AS r (${given.definition})
       ORDER BY r.group_index, r.trajectory_index`,
      [modelId, jobId, logId, split, step, payloadUri, batch],
    )
  }
}

/** Lists the trajectories of a job's payload for another job too, which trains on the same payload. */
export async function repeatTrajectories(connection: Connection, from: string, to: string): Promise<void> {
  await connection.query(
    `INSERT INTO training.trajectories (model_id, job_id, split, payload_uri, ${given.names})
     SELECT model_id, $2, split, payload_uri, ${given.names} FROM training.trajectories WHERE job_id = $1
     ORDER BY position`,
    [from, to],
  )
}

export interface TrajectoryFilter {
  split?: string | undefined
  step?: number | undefined
  jobId?: string | undefined
  scenarioId?: string | undefined
  promptHash?: string | undefined
  minReward?: number | undefined
  maxReward?: number | undefined
  flag?: string | undefined
  minPush?: number | undefined
  maxPush?: number | undefined
}

const select = `SELECT ${selectColumns(trajectoryColumns, 't')},
    coalesce(t.step, c.step) AS step, coalesce(j.created_at, l.created_at) AS "createdAt"
  FROM training.trajectories t
  LEFT JOIN training.jobs j ON j.id = t.job_id
  LEFT JOIN training.logs l ON l.id = t.log_id
  LEFT JOIN training.checkpoints c ON c.job_id = t.job_id`

/** By what lists are sorted: by arrival, or by a number. Advantages and pushes are compared by their size. */
export const trajectorySorts = ['arrival', 'reward', 'advantage', 'push', 'tokens'] as const
export type TrajectorySort = (typeof trajectorySorts)[number]

// Unknown numbers are the least.
const sortValues: Record<Exclude<TrajectorySort, 'arrival'>, string> = {
  reward: 't.reward',
  advantage: 'coalesce(abs(t.advantage), -1)',
  push: 'coalesce(abs(t.push), -1)',
  tokens: 't.tokens::double precision',
}

/** The position of a trajectory in a list: the number that the list is sorted by, and its position in the order of arrival. */
export interface TrajectoryPosition {
  value: number | null
  position: number
}

interface TrajectoryPage {
  sort?: TrajectorySort
  after: TrajectoryPosition | undefined
  order: 'asc' | 'desc'
  limit: number
}

/** Lists a page of a model's trajectories that follow the position `after`. */
export async function listTrajectories(
  pool: Pool,
  modelId: string,
  filter: TrajectoryFilter,
  { sort = 'arrival', after, order, limit }: TrajectoryPage,
): Promise<TrajectoryRow[]> {
  const [comparison, direction] = order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const values: unknown[] = [modelId, limit]
  const placeholder = (value: unknown) => `$${values.push(value)}`
  const conditions = describeFilter(filter, placeholder)
  const keys = sort === 'arrival' ? ['t.position'] : [sortValues[sort], 't.position']
  if (after) {
    const bounds = sort === 'arrival' ? [after.position] : [after.value, after.position]
    const types = ['double precision', 'bigint'].slice(-bounds.length)
    const placeholders = bounds.map((value, index) => `${placeholder(value)}::${types[index]}`)
    conditions.push(`(${keys.join(', ')}) ${comparison} (${placeholders.join(', ')})`)
  }
  const sorted = keys.map((key) => `${key} ${direction}`).join(', ')
  const { rows } = await pool.query<TrajectoryRow>(
    `${select} WHERE ${['t.model_id = $1', ...conditions].join(' AND ')} ORDER BY ${sorted} LIMIT $2`,
    values,
  )
  return rows
}

/** Counts a model's trajectories, up to `most`. */
export function countTrajectories(
  pool: Pool,
  modelId: string,
  filter: TrajectoryFilter,
  most: number,
): Promise<number> {
  const values: unknown[] = [modelId]
  const conditions = ['t.model_id = $1', ...describeFilter(filter, (value) => `$${values.push(value)}`)]
  return countUpTo(
    pool,
    { text: `SELECT FROM training.trajectories t WHERE ${conditions.join(' AND ')}`, values },
    most,
  )
}

function describeFilter(filter: TrajectoryFilter, placeholder: (value: unknown) => string): string[] {
  const { split, step, jobId, scenarioId, promptHash, minReward, maxReward, flag, minPush, maxPush } = filter
  return [
    split !== undefined && `t.split = ${placeholder(split)}`,
    step !== undefined && describeStep(placeholder(step)),
    jobId !== undefined && `t.job_id = ${placeholder(jobId)}`,
    scenarioId !== undefined && `t.scenario_id = ${placeholder(scenarioId)}`,
    promptHash !== undefined && `t.prompt_hash = ${placeholder(promptHash)}`,
    minReward !== undefined && `t.reward >= ${placeholder(minReward)}`,
    maxReward !== undefined && `t.reward <= ${placeholder(maxReward)}`,
    minPush !== undefined && `t.push >= ${placeholder(minPush)}`,
    maxPush !== undefined && `t.push <= ${placeholder(maxPush)}`,
    flag !== undefined && `t.flags @> ARRAY[${placeholder(flag)}]::text[]`,
  ].filter((condition) => condition !== false)
}

// Uses two small look-ups, so that both indexes are used.
function describeStep(step: string): string {
  const ofJob = `SELECT job_id FROM training.checkpoints WHERE model_id = $1 AND checkpoints.step = ${step}::integer`
  return `(t.step = ${step}::integer OR t.job_id = (${ofJob}))`
}

/** The position of a trajectory in its model's list; undefined if the model does not have it. */
export async function findTrajectoryPosition(
  pool: Pool,
  modelId: string,
  id: string,
  sort: TrajectorySort = 'arrival',
): Promise<TrajectoryPosition | undefined> {
  const value = sort === 'arrival' ? 'NULL' : sortValues[sort]
  const { rows } = await pool.query<TrajectoryPosition>(
    `SELECT ${value} AS value, t.position FROM training.trajectories t WHERE t.id = $2 AND t.model_id = $1`,
    [modelId, id],
  )
  return rows[0]
}

export async function findTrajectory(pool: Pool, modelId: string, id: string): Promise<TrajectoryRow | undefined> {
  const { rows } = await pool.query<TrajectoryRow>(`${select} WHERE t.model_id = $1 AND t.id = $2`, [modelId, id])
  return rows[0]
}
