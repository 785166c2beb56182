// The order of the jobs that wait for a trainer. Claims, positions over REST and positions in statuses use it.
//
// Between entities it is start-time fair queueing (Goyal, Vin and Cheng 1996). A job costs its GPU seconds divided by the
// weight of its entity. It starts, in virtual time, when the last job of its entity ends, but not before the virtual time
// of its base model, which is the start of the job that was claimed last. The earliest start comes first. So entities
// share the GPU seconds by weight, an entity that was idle gets no credit for that time, and none can overtake others by
// the number or the priority of its jobs. Of equal starts, the entity comes first whose last job started earlier.
//
// A claim is charged with the mean of the entity's recent attempts. When the attempt ends, what it has really used
// replaces the charge.

import { blockedEntities, blockOf } from './queue-blocks.ts'
import { active, held, unfinished } from './states.ts'

// An entity without an attempt is charged a minute.
const firstJobSeconds = 60

// Jobs that fail at once cost something too: otherwise an entity with many of them would always be first. For the same
// reason, a trainer without GPUs counts as one GPU.
const minJobSeconds = 1

/**
 * SQL: common table expressions. `ordered` has the jobs that the next free trainer may get, of the base models that a
 * condition on `n` selects: the first unfinished job of each model, if it is Queued and no later one is active. `turn` is a
 * condition on `earlier`, their number within their entity. Sort it by `unblockedFirst`. `defaultGpuSeconds` is
 * the default of the limit of GPU seconds.
 *
 * Within an entity, the models with the highest priority come first. A model has the highest priority of its unfinished
 * jobs, because an important job is only reached through the jobs before it.
 */
export const fairOrder = (
  condition: string,
  defaultGpuSeconds: number,
  turn = 'true',
): string => `${blockedEntities(defaultGpuSeconds)}, lines AS (
    SELECT e.model_id, n.base_model, min(e.arrival) AS first, max(e.priority) AS priority
    FROM training.jobs e JOIN training.models n ON n.id = e.model_id
    WHERE e.state ${unfinished} AND ${condition}
    GROUP BY e.model_id, n.base_model HAVING NOT bool_or(e.state ${active})
  ), turns AS (
    SELECT e.id, e.arrival, e.mode, e.entity, l.base_model, ${blockOf('b')} AS block,
      row_number() OVER (PARTITION BY l.base_model, e.mode, e.entity ORDER BY l.priority DESC, e.arrival) - 1 AS earlier
    FROM lines l JOIN training.jobs e ON e.model_id = l.model_id AND e.arrival = l.first
    LEFT JOIN blocked b ON b.entity = e.entity
    WHERE e.state = 'Queued'
  ), clocks AS (
    SELECT base_model, max(virtual_start) AS now FROM training.entity_queues GROUP BY base_model
  ), ordered AS (
    SELECT t.*, next.start AS next_start, cost.job_seconds,
      next.start + t.earlier * cost.of_job AS virtual_start,
      CASE WHEN t.earlier = 0 THEN coalesce(q.virtual_start, '-Infinity')
        ELSE next.start + (t.earlier - 1) * cost.of_job END AS last_start
    FROM turns t
    LEFT JOIN training.entity_queues q ON q.entity = t.entity AND q.base_model = t.base_model
    LEFT JOIN clocks ON clocks.base_model = t.base_model,
    LATERAL (
      SELECT coalesce(sum(cost), 0) AS cost, coalesce(sum(gpu_seconds), 0) AS seconds, count(*) AS attempts
      FROM training.queue_corrections c WHERE c.entity = t.entity AND c.base_model = t.base_model
    ) ended,
    LATERAL (SELECT greatest(coalesce(clocks.now, 0), coalesce(q.virtual_end, 0) + ended.cost) AS start) next,
    LATERAL (
      SELECT seconds AS job_seconds, seconds / coalesce(q.weight, 1) AS of_job
      FROM (SELECT (coalesce(q.job_seconds, ${firstJobSeconds}) + ended.seconds) / (1 + ended.attempts)) AS mean (seconds)
    ) cost
    WHERE ${turn}
  )`

/** SQL: who comes first of the rows of `ordered` without a `block`, in each base model and mode. */
export const fairFirst = 'ordered.virtual_start, ordered.last_start, ordered.arrival'

/** SQL: the same of all rows. Those with a `block` are not claimed: all others come before them. */
export const unblockedFirst = `ordered.block IS NOT NULL, ${fairFirst}`

/**
 * SQL: common table expressions that charge the entities of the rows of `claimed`, which have the row of `ordered`, the
 * `weight` of their entity and the `base_model`. `charged` has what each of them costs. Concurrent claims of an entity
 * add their charges.
 */
export const chargeClaimed = `folded AS (
    DELETE FROM training.queue_corrections c USING claimed k
    WHERE c.entity = k.entity AND c.base_model = k.base_model AND k.mode = 'Warm' RETURNING c.cost
  ), charged AS (
    INSERT INTO training.entity_queues AS q (entity, base_model, virtual_start, virtual_end, job_seconds, weight)
    SELECT entity, base_model, next_start, next_start + job_seconds / weight, job_seconds, weight
    FROM claimed WHERE mode = 'Warm'
    ON CONFLICT (entity, base_model) DO UPDATE SET
      virtual_start = greatest(excluded.virtual_start, q.virtual_end + (SELECT coalesce(sum(cost), 0) FROM folded)),
      virtual_end = greatest(excluded.virtual_start, q.virtual_end + (SELECT coalesce(sum(cost), 0) FROM folded))
        + excluded.job_seconds / excluded.weight,
      job_seconds = excluded.job_seconds, weight = excluded.weight
    RETURNING q.job_seconds / q.weight AS cost, q.weight
  )`

/**
 * SQL: replaces the charge of the attempt of job $1, which ends now, by the seconds $2 of its trainer that it has used.
 * Call it before the job's row changes.
 */
export const correctCharge = `INSERT INTO training.queue_corrections (entity, base_model, gpu_seconds, cost)
  SELECT m.entity, m.base_model, used.seconds, used.seconds / a.queue_weight - a.queue_cost
  FROM training.jobs j
  JOIN training.models m ON m.id = j.model_id
  JOIN training.job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt,
  LATERAL (SELECT greatest($2::float8 * greatest(j.gpus, 1), ${minJobSeconds})) AS used (seconds)
  WHERE j.id = $1 AND j.state ${held} AND a.queue_cost IS NOT NULL`
