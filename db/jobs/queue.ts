import { unblockedFirst, fairOrder } from './fair-order.ts'
import { blockOf, type QueueBlock, type QueueDeps } from './queue-blocks.ts'
import { active, unfinished } from './states.ts'

/** The position of a Queued job in its queues. */
export interface QueuePosition {
  /** How many unfinished jobs of its model are before it. One that a trainer has is, even if it came later. */
  ahead: number
  /** The resource name of the first of them, if there is one. */
  firstAhead: string | null
  /**
   * Its position among the jobs that wait for a trainer of its base model, from 1, in the fair order. Jobs that wait for their
   * model do not count, and have no position of their own.
   */
  position: number
  /** False while no BaseModel trains the models of its base. */
  hasBaseModel: boolean
  /** Why the jobs of its entity are not claimed; null if they are. */
  block: QueueBlock | null
}

/**
 * SQL: the positions of all Queued jobs of the base models that a condition on `n` selects. An active job is before all others
 * of its model, even if it came later.
 */
const queue = (
  condition: string,
  defaultGpuSeconds: number,
) => `WITH ${fairOrder(condition, defaultGpuSeconds)}, line AS (
    SELECT e.id, e.state, n.base_model, ${blockOf('b')} AS block,
      row_number() OVER model - 1
        + coalesce(max(e.arrival) FILTER (WHERE e.state ${active}) OVER whole > e.arrival, false)::integer AS ahead,
      coalesce(max(e.cr_name) FILTER (WHERE e.state ${active}) OVER whole, first_value(e.cr_name) OVER model)
        AS first_of_model
    FROM training.jobs e JOIN training.models n ON n.id = e.model_id LEFT JOIN blocked b ON b.entity = e.entity
    WHERE e.state ${unfinished} AND ${condition}
    WINDOW model AS (PARTITION BY e.model_id ORDER BY e.arrival), whole AS (PARTITION BY e.model_id)
  ), queue AS (
    SELECT ordered.id, row_number() OVER (PARTITION BY base_model, mode ORDER BY ${unblockedFirst}) AS position FROM ordered
  )
  SELECT id, ahead, CASE WHEN ahead > 0 THEN first_of_model END AS "firstAhead", coalesce(position, 1) AS position, line.block,
    EXISTS (SELECT FROM training.base_models b WHERE b.name = base_model) AS "hasBaseModel"
  FROM line LEFT JOIN queue USING (id) WHERE state = 'Queued'`

type Row = QueuePosition & { id: string }

/**
 * The positions of these Queued jobs by their ids. Jobs that are not Queued, or have just left the queue, are missing.
 * This is a query of its own, because its planning costs more than reading a job.
 */
export async function findQueuePositions(
  { pool, defaultGpuSeconds }: QueueDeps,
  jobs: { id: string; state: string }[],
): Promise<Map<string, QueuePosition>> {
  const ids = jobs.filter(({ state }) => state === 'Queued').map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const ofJobs = `n.base_model IN (
    SELECT m.base_model FROM training.jobs j JOIN training.models m ON m.id = j.model_id WHERE j.id = ANY ($1))`
  const { rows } = await pool.query<Row>(`${queue(ofJobs, defaultGpuSeconds)} AND id = ANY ($1)`, [ids])
  return indexPositions(rows)
}

/** The positions of all Queued jobs by their ids. */
export async function listQueuePositions({ pool, defaultGpuSeconds }: QueueDeps): Promise<Map<string, QueuePosition>> {
  const { rows } = await pool.query<Row>(queue('true', defaultGpuSeconds), [])
  return indexPositions(rows)
}

function indexPositions(rows: readonly Row[]): Map<string, QueuePosition> {
  return new Map(rows.map(({ id, ...position }) => [id, position]))
}
