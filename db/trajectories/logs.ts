import { column, insertRow, selectColumns, type RowOf } from '../columns.ts'
import type { Connection, Pool } from '../pool.ts'

const countedColumns = {
  id: column<string>('id', 'uuid'),
  split: column<string>('split', 'text'),
  groups: column<number>('groups', 'integer'),
  trajectories: column<number>('trajectories', 'integer'),
  exceptions: column<number>('exceptions', 'integer'),
  meanReward: column<number>('mean_reward', 'double precision'),
  minReward: column<number>('min_reward', 'double precision'),
  maxReward: column<number>('max_reward', 'double precision'),
  /** The sum of squared distances from the mean. */
  rewardSquares: column<number>('reward_squares', 'double precision'),
}

const newLogColumns = {
  ...countedColumns,
  modelId: column<string>('model_id', 'uuid'),
  /** The key that logged the trajectories. */
  keyId: column<string>('key_id', 'uuid'),
  payloadUri: column<string>('payload_uri', 'text'),
  payloadDigest: column<string>('payload_digest', 'text'),
  payloadBytes: column<number>('payload_bytes', 'bigint'),
}

const rowColumns = {
  ...countedColumns,
  step: column<number>('step', 'integer'),
  createdAt: column<Date>('created_at', 'timestamptz'),
}

/** The columns of `training.logs`. */
export const logColumns = { ...newLogColumns, ...rowColumns }

/** Groups of trajectories that were logged together. */
export type LogRow = RowOf<typeof rowColumns>
export type NewLog = RowOf<typeof newLogColumns>

/**
 * Inserts a log at the step of the model's newest checkpoint. Returns that step, or undefined if the id exists already.
 */
export async function insertLog(connection: Connection, log: NewLog): Promise<number | undefined> {
  const { names, parameters, values } = insertRow(newLogColumns, log)
  const { rows } = await connection.query<{ step: number }>(
    `INSERT INTO training.logs (${names}, step) VALUES (${parameters},
       (SELECT coalesce(max(step), 0) FROM training.checkpoints
        WHERE model_id = $${values.length + 1} AND deleted_at IS NULL))
     ON CONFLICT (id) DO NOTHING RETURNING step`,
    [...values, log.modelId],
  )
  return rows[0]?.step
}

const columns = selectColumns(rowColumns)

/** Finds a log of a model. */
export async function findLog(connection: Connection, modelId: string, id: string): Promise<LogRow | undefined> {
  const { rows } = await connection.query<LogRow>(
    `SELECT ${columns} FROM training.logs WHERE model_id = $1 AND id = $2`,
    [modelId, id],
  )
  return rows[0]
}

/** The position of a log in its model's list; undefined if the model does not have it. */
export async function findLogPosition(
  pool: Pool,
  { modelId, split }: { modelId: string; split: string | undefined },
  id: string,
): Promise<number | undefined> {
  const { rows } = await pool.query<{ position: number }>(
    'SELECT position FROM training.logs WHERE id = $2 AND model_id = $1 AND ($3::text IS NULL OR split = $3)',
    [modelId, id, split ?? null],
  )
  return rows[0]?.position
}

/** Lists a page of a model's logs that follow the position `after`, in order of arrival. */
export async function listLogs(
  pool: Pool,
  modelId: string,
  page: { split: string | undefined; after: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<LogRow[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  const { rows } = await pool.query<LogRow>(
    `SELECT ${columns} FROM training.logs
     WHERE model_id = $1 AND ($2::text IS NULL OR split = $2) AND ($3::bigint IS NULL OR position ${comparison} $3)
     ORDER BY position ${direction} LIMIT $4`,
    [modelId, page.split ?? null, page.after ?? null, page.limit],
  )
  return rows
}

/**
 * The combined logs of one split at one step. Rewards are null if there are none. Their mean and squares are null if
 * some are too large to compute with.
 */
export interface LogStatistics extends Pick<LogRow, 'split' | 'step' | 'groups' | 'trajectories' | 'exceptions'> {
  logs: number
  meanReward: number | null
  minReward: number | null
  maxReward: number | null
  rewardSquares: number | null
}

/** Logs are combined by these. */
export interface SplitStep {
  split: string
  step: number
}

/** Whether a model has logs of a split at a step. */
export async function hasLogs(pool: Pool, modelId: string, { split, step }: SplitStep): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM training.logs WHERE model_id = $1 AND split = $2 AND step = $3 LIMIT 1',
    [modelId, split, step],
  )
  return rowCount === 1
}

/** Lists a page of the statistics of a model's logs that follow `after`, ordered by split and step. */
export async function listLogStatistics(
  pool: Pool,
  modelId: string,
  page: { split: string | undefined; after: SplitStep | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<LogStatistics[]> {
  const [comparison, direction] = page.order === 'desc' ? ['<', 'DESC'] : ['>', 'ASC']
  // The squared distances from the common mean are those from each log's own mean, plus the squared distance of that
  // mean for each trajectory.
  const { rows } = await pool.query<LogStatistics>(
    `WITH filled AS (
       SELECT *, CASE WHEN trajectories > 0 THEN min_reward END AS least,
         CASE WHEN trajectories > 0 THEN max_reward END AS most, reward_squares < 1e200 AS countable
       FROM training.logs WHERE model_id = $1
     ), steps AS (
       SELECT split, step, count(*)::integer AS logs, sum(groups)::integer AS groups,
         sum(trajectories)::integer AS trajectories, sum(exceptions)::integer AS exceptions, min(least) AS least,
         max(most) AS most, sum(mean_reward * trajectories) FILTER (WHERE abs(mean_reward) < 1e100 AND countable)
           / CASE WHEN bool_and(abs(mean_reward) < 1e100 AND countable) THEN nullif(sum(trajectories), 0) END AS mean
       FROM filled
       WHERE ($2::text IS NULL OR split = $2) AND ($3::text IS NULL OR (split, step) ${comparison} ($3, $4::integer))
       GROUP BY split, step ORDER BY split ${direction}, step ${direction} LIMIT $5
     )
     SELECT s.split, s.step, s.logs, s.groups, s.trajectories, s.exceptions, s.mean AS "meanReward",
       s.least AS "minReward", s.most AS "maxReward", CASE WHEN s.mean IS NOT NULL THEN (
         SELECT sum(reward_squares + trajectories * power(mean_reward - s.mean, 2))
         FROM training.logs l WHERE l.model_id = $1 AND l.split = s.split AND l.step = s.step
       ) END AS "rewardSquares"
     FROM steps s ORDER BY s.split ${direction}, s.step ${direction}`,
    [modelId, page.split ?? null, page.after?.split ?? null, page.after?.step ?? null, page.limit],
  )
  return rows
}
