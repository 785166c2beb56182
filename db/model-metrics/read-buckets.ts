import type { Pool } from '../pool.ts'

/** A metric's values in a bucket: min, max, sum, last, count. */
export type MetricValues = [min: number, max: number, sum: number, last: number, count: number]

/** Successive gradient steps of a model. */
export interface MetricBucket {
  /** The index of the first one. */
  index: number
  firstStep: number
  lastStep: number
  firstAt: Date
  lastAt: Date
  metrics: Record<string, MetricValues>
}

/** Buckets of one width. The width 1 has each gradient step. */
export interface BucketRange {
  width: number
  /** The first bucket, and the one after the last. */
  from: number
  to: number
}

/** How many gradient steps a model has. */
export async function readStepCount(pool: Pool, modelId: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('SELECT count FROM training.metric_heads WHERE model_id = $1', [
    modelId,
  ])
  return rows[0]?.count ?? 0
}

/** The index of the first gradient step that is not before a step, or not before a time. */
export async function findIndex(
  pool: Pool,
  { modelId, count, step, at }: { modelId: string; count: number; step?: number | undefined; at?: Date | undefined },
): Promise<number> {
  const { rows } = await pool.query<{ index: number }>('SELECT training.find_metric_index($1, $2, $3, $4) AS index', [
    modelId,
    count,
    step ?? null,
    at ?? null,
  ])
  return rows[0]!.index
}

/** Reads some metrics of buckets, or all of their metrics. */
export async function readBuckets(
  pool: Pool,
  modelId: string,
  { width, from, to, keys }: BucketRange & { keys?: string[] | undefined },
): Promise<MetricBucket[]> {
  const { rows } = await pool.query<MetricBucket>(width === 1 ? selectSteps : selectWide, [
    modelId,
    from,
    to,
    keys ?? null,
    ...(width === 1 ? [] : [width]),
  ])
  return rows
}

const selectSteps = `SELECT e.model_index AS index, e.model_step AS "firstStep", e.model_step AS "lastStep",
    e.created_at AS "firstAt", e.created_at AS "lastAt", coalesce((
      SELECT jsonb_object_agg(m.key, jsonb_build_array(m.value, m.value, m.value, m.value, 1))
      FROM training.metrics_of_event(e.data) AS m WHERE $4::text[] IS NULL OR m.key = ANY ($4)), '{}') AS metrics
  FROM training.events e WHERE e.model_id = $1 AND e.model_index >= $2 AND e.model_index < $3 ORDER BY e.model_index`

const selectWide = `SELECT b.bucket * b.width AS index, b.first_step AS "firstStep", b.last_step AS "lastStep",
    b.first_at AS "firstAt", b.last_at AS "lastAt", CASE WHEN $4::text[] IS NULL THEN b.metrics ELSE coalesce((
      SELECT jsonb_object_agg(k, b.metrics -> k) FROM unnest($4::text[]) AS k WHERE b.metrics ? k), '{}') END AS metrics
  FROM training.metric_buckets b
  WHERE b.model_id = $1 AND b.width = $5 AND b.bucket >= $2 AND b.bucket < $3 ORDER BY b.bucket`
