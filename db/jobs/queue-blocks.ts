// What keeps an entity's jobs from being claimed, besides their turn: pauses, and its limit of GPU seconds. Running jobs
// go on. Claims, positions, REST and the statuses of resources read it here.

import { reasons } from '../../crds/names.ts'
import type { Connection, Pool } from '../pool.ts'
import { held, unfinished } from './states.ts'

/**
 * Why jobs are not claimed: the administrator of the installation has paused the jobs of all entities, or those of their
 * entity; an admin of their entity has paused them; or their entity has used its GPU seconds of today.
 */
export type QueueBlock = 'all' | 'administrator' | 'entity' | 'gpu_seconds'

/** What reading the queue needs. */
export interface QueueDeps {
  pool: Pool
  /** The limit `gpu_seconds_per_day` of entities without one of their own. Infinity: none. */
  defaultGpuSeconds: number
}

/** The entity in `training.queue_pauses` that stands for all of them. No entity has this name. */
export const everyEntity = '*'

/**
 * SQL: the GPU seconds (`used`) that entities have used on this day (UTC). `entities` selects them. An attempt counts on the
 * day of its end, as in the usage; one that runs counts from its claim, and shares its trainer with those that are on it now.
 */
const gpuSecondsToday = (entities: string): string => `SELECT entity, sum(seconds) AS used FROM (
      SELECT u.entity, u.gpu_seconds AS seconds FROM training.usage u
      WHERE u.entity IN (${entities}) AND u.gpu_seconds > 0 AND u.hour >= date_trunc('day', now(), 'UTC')
      UNION ALL
      SELECT r.entity, r.seconds FROM (
        SELECT j.entity, j.gpus * extract(epoch FROM now() - j.claimed_at)::float8 /
          count(*) OVER (PARTITION BY j.holder_pod) AS seconds
        FROM training.jobs j WHERE j.state ${held}
      ) r WHERE r.entity IN (${entities})
    ) today GROUP BY entity`

/** SQL: the entities with a limit that have jobs, or have one of their own. */
const limited = (
  defaultSeconds: number,
): string => `SELECT l.entity FROM auth.entities l WHERE l.gpu_seconds_per_day IS NOT NULL
      UNION SELECT j.entity FROM training.jobs j WHERE j.state ${unfinished} AND ${literal(defaultSeconds)} < 'Infinity'`

/** As a parameter, it would make a plan for all limits look expensive, and Postgres would plan each query anew. */
const literal = (seconds: number): string => `'${seconds}'::float8`

/**
 * SQL: a common table expression with the entities whose jobs are not claimed, and why. They are few. `defaultSeconds` is
 * `defaultGpuSeconds`.
 */
export const blockedEntities = (defaultSeconds: number): string => `blocked AS MATERIALIZED (
    SELECT entity, min(block) AS block FROM (
      SELECT entity, CASE WHEN entity = '${everyEntity}' THEN 'all' WHEN by_administrator THEN 'administrator'
        ELSE 'entity' END AS block
      FROM training.queue_pauses
      UNION ALL
      SELECT l.entity, 'gpu_seconds' FROM (${limited(defaultSeconds)}) l LEFT JOIN auth.entities e USING (entity)
      LEFT JOIN (${gpuSecondsToday(limited(defaultSeconds))}) u USING (entity)
      WHERE coalesce(u.used, 0) >= coalesce(e.gpu_seconds_per_day, ${literal(defaultSeconds)})
    ) blocks GROUP BY entity
  )`

/** SQL: why the jobs of an entity are not claimed; null if they are. `row` is that of `blocked` of the entity. */
export const blockOf = (row: string): string =>
  `coalesce((SELECT block FROM blocked WHERE entity = '${everyEntity}'), ${row}.block)`

const explanations: Record<QueueBlock, (now: Date) => string> = {
  all: () => 'Paused by the administrator, like all jobs that wait. It begins after the administrator resumes them.',
  administrator: () =>
    'Paused by the administrator, like all waiting jobs of its entity. It begins after the administrator resumes them.',
  entity: () =>
    'Paused by an admin of its entity, like all its waiting jobs. It begins after an admin resumes them ' +
    '(PUT /v1/preview/limits/paused).',
  gpu_seconds: (now) =>
    `Its entity has used its GPU seconds of this day (gpu_seconds_per_day). It begins at ${findNextDay(now)} or later, ` +
    'or after an administrator has raised the limit.',
}

/** The reason why a job waits that is not claimed, and what lets it begin, for people. */
export function explainBlock(block: QueueBlock, now: Date) {
  const reason = block === 'gpu_seconds' ? reasons.gpuSecondsUsed : reasons.paused
  return { reason, message: explanations[block](now) }
}

function findNextDay(now: Date): string {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return new Date(next).toISOString().replace('.000Z', 'Z')
}

/** The GPU seconds that an entity has used on this day. */
export async function sumGpuSecondsToday(connection: Connection, entity: string): Promise<number> {
  const { rows } = await connection.query<{ used: number }>(gpuSecondsToday('$1'), [entity])
  return rows[0]?.used ?? 0
}
