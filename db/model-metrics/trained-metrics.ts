import type { Pool } from '../pool.ts'

/** A metric of a model's training, and how many of its steps have it. */
export interface TrainedMetric {
  key: string
  count: number
  /** That of the last step. */
  last: number
}

/** The value of a metric at a step. */
export interface SeriesPoint {
  step: number
  value: number
}

// The metrics of a step are those of its checkpoint, which stay when the checkpoint is deleted.
const numbers = `FROM training.checkpoints c, jsonb_each(c.metrics) AS metric
  WHERE c.model_id = $1 AND jsonb_typeof(metric.value) = 'number'`

/** Lists the metrics of a model's training. */
export async function listTrainedMetrics(pool: Pool, modelId: string): Promise<TrainedMetric[]> {
  const { rows } = await pool.query<TrainedMetric>(
    `SELECT metric.key, count(*), (array_agg(metric.value::float8 ORDER BY c.step DESC))[1] AS last ${numbers} GROUP BY metric.key ORDER BY metric.key`,
    [modelId],
  )
  return rows
}

/** Reads at most `samples` values of a metric, at equal distances, with the first and the last one. */
export async function sampleTrainedMetric(
  pool: Pool,
  { modelId, key, samples }: { modelId: string; key: string; samples: number },
): Promise<SeriesPoint[]> {
  const { rows } = await pool.query<SeriesPoint>(
    `WITH found AS (
       SELECT c.step, metric.value::float8 AS value, row_number() OVER (ORDER BY c.step) AS n, count(*) OVER () AS total
       ${numbers} AND metric.key = $2)
     SELECT step, value FROM found
     WHERE n = 1 OR n = total OR n * ($3::bigint - 1) / total <> (n - 1) * ($3::bigint - 1) / total
     ORDER BY step LIMIT $3`,
    [modelId, key, samples],
  )
  return rows
}
