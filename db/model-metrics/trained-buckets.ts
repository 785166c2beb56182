import type { Pool } from '../pool.ts'
import type { MetricBucket, MetricValues } from './read-buckets.ts'

/** Some metrics of a model's checkpoints. */
export interface TrainedRange {
  modelId: string
  keys: string[]
  /** Inclusive. */
  steps: { from: number | undefined; to: number | undefined }
  times: { from: Date | undefined; to: Date | undefined }
  /** At most as many buckets of each metric. */
  points: number
}

interface Row extends Omit<MetricBucket, 'metrics'> {
  key: string
  values: MetricValues
  width: number
}

/** Reads the metrics of checkpoints by step. Postgres joins those of successive steps if there are too many. */
export async function readTrainedBuckets(
  pool: Pool,
  { modelId, keys, steps, times, points }: TrainedRange,
): Promise<{ buckets: MetricBucket[]; width: number }> {
  const { rows } = await pool.query<Row>(
    `WITH chosen AS (
       SELECT c.step, c.created_at, c.metrics FROM training.checkpoints c
       WHERE c.model_id = $1 AND ($3::bigint IS NULL OR c.step >= $3) AND ($4::bigint IS NULL OR c.step <= $4)
         AND ($5::timestamptz IS NULL OR c.created_at >= $5) AND ($6::timestamptz IS NULL OR c.created_at <= $6)
     ), widths AS (
       -- One bucket more than their number, because they are aligned.
       SELECT greatest(1, ceil((max(step) - min(step) + 1)::float8 / ($7 - 1)))::integer AS width FROM chosen
     )
     SELECT m.key, width, step / width * width AS index, min(step) AS "firstStep", max(step) AS "lastStep",
       min(created_at) AS "firstAt", max(created_at) AS "lastAt",
       jsonb_build_array(min(m.value), max(m.value), sum(m.value),
         (array_agg(m.value ORDER BY step DESC))[1], count(*)) AS values
     FROM chosen, widths, training.metrics_of_event(metrics) AS m WHERE m.key = ANY ($2)
     GROUP BY m.key, width, step / width ORDER BY step / width`,
    [modelId, keys, steps.from ?? null, steps.to ?? null, times.from ?? null, times.to ?? null, points],
  )
  const buckets = rows.map(({ key, values, index, firstStep, lastStep, firstAt, lastAt }) => {
    return { index, firstStep, lastStep, firstAt, lastAt, metrics: { [key]: values } }
  })
  return { buckets, width: rows[0]?.width ?? 1 }
}
