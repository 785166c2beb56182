import { findIndex, readBuckets, readStepCount, type MetricBucket } from '../../../../db/model-metrics/read-buckets.ts'
import { readTrainedBuckets } from '../../../../db/model-metrics/trained-buckets.ts'
import type { Pool } from '../../../../db/pool.ts'
import { buildEnvelope, type Envelope, type EnvelopeAxis } from './envelope.ts'
import { coverRange, planEnvelope, type IndexRange } from './envelope-plan.ts'

const widest = 4_096

/** A metric of gradient steps. */
export interface GradientMetric {
  key: string
  count: number
  last: number
}

/** A part of a chart. `from` and `to` are inclusive, in the unit of `x`. */
export interface EnvelopeRange {
  x: EnvelopeAxis
  from: number | undefined
  to: number | undefined
  points: number
}

/** Lists the metrics of a model's gradient steps. Reads few rows, however many steps there are. */
export async function listGradientMetrics(pool: Pool, modelId: string): Promise<GradientMetric[]> {
  const count = await readStepCount(pool, modelId)
  const metrics = new Map<string, GradientMetric>()
  for (const range of coverRange({ from: 0, to: count }, widest)) {
    for (const bucket of await readBuckets(pool, modelId, range)) addMetrics(metrics, bucket)
  }
  return [...metrics.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

function addMetrics(metrics: Map<string, GradientMetric>, bucket: MetricBucket): void {
  for (const [key, [, , , last, count]] of Object.entries(bucket.metrics)) {
    metrics.set(key, { key, count: (metrics.get(key)?.count ?? 0) + count, last })
  }
}

/** Reads metrics of a model's gradient steps. */
export async function readGradientEnvelopes(
  pool: Pool,
  modelId: string,
  { keys, ...wanted }: EnvelopeRange & { keys: string[] },
): Promise<Map<string, Envelope>> {
  const { x, points } = wanted
  if (keys.length === 0) return new Map()
  const range = await findRange(pool, modelId, wanted)
  const { stored, width } = planEnvelope(range, { points, keys: keys.length })
  const buckets: MetricBucket[] = []
  for (const part of coverRange(range, stored)) buckets.push(...(await readBuckets(pool, modelId, { ...part, keys })))
  return new Map(keys.map((key) => [key, buildEnvelope(buckets, { key, x, width })]))
}

async function findRange(pool: Pool, modelId: string, { x, from, to }: EnvelopeRange): Promise<IndexRange> {
  const count = await readStepCount(pool, modelId)
  const bound = (index: number) => Math.min(count, Math.max(0, Math.trunc(index)))
  const find = (value: number) => {
    if (x === 'index') return bound(Math.ceil(value))
    const at = x === 'time' ? new Date(value) : undefined
    return findIndex(pool, { modelId, count, at, step: x === 'step' ? Math.ceil(value) : undefined })
  }
  return {
    from: from === undefined ? 0 : await find(from),
    to: to === undefined ? count : await find(Math.floor(to) + 1),
  }
}

/** Reads metrics of a model's checkpoints. They have no index. */
export async function readTrainedEnvelopes(
  pool: Pool,
  modelId: string,
  { keys, x, from, to, points }: EnvelopeRange & { keys: string[] },
): Promise<Map<string, Envelope>> {
  if (keys.length === 0) return new Map()
  const isTime = x === 'time'
  const toDate = (value: number | undefined) => (value === undefined ? undefined : new Date(value))
  const floor = (value: number | undefined) => (value === undefined ? undefined : Math.floor(value))
  const steps = x === 'step' ? { from: from === undefined ? undefined : Math.ceil(from), to: floor(to) } : none
  const times = isTime ? { from: toDate(from), to: toDate(to) } : none
  const { buckets, width } = await readTrainedBuckets(pool, { modelId, keys, steps, times, points })
  return new Map(keys.map((key) => [key, buildEnvelope(buckets, { key, x: isTime ? 'time' : 'step', width })]))
}

const none = { from: undefined, to: undefined }
