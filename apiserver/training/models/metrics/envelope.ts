import type { MetricBucket, MetricValues } from '../../../../db/model-metrics/read-buckets.ts'

/** What the x of a chart is. */
export type EnvelopeAxis = 'index' | 'step' | 'time'

/** Columns of equal length, one value for each bucket. */
export interface Envelope {
  x: EnvelopeAxis
  /** Whether each bucket is one value. */
  exact: boolean
  /** How many gradient steps, or steps, a bucket has at most. */
  width: number
  /** The x of the first and of the last one in the bucket. */
  first: number[]
  last_x: number[]
  min: number[]
  max: number[]
  mean: number[]
  last: number[]
  count: number[]
}

/** A bucket of one metric. */
interface Point {
  first: number
  lastX: number
  values: MetricValues
}

/** Joins stored buckets of a metric to wider ones. No value gets lost: the least and the greatest one are in the answer. */
export function buildEnvelope(
  buckets: readonly MetricBucket[],
  { key, x, width }: { key: string; x: EnvelopeAxis; width: number },
): Envelope {
  const points: Point[] = []
  let group = -1
  for (const bucket of buckets) {
    // A client chooses the key: it may be `constructor`.
    const values = Object.hasOwn(bucket.metrics, key) ? bucket.metrics[key] : undefined
    if (!values) continue
    const [first, lastX] = readAxis(bucket, x)
    const own = Math.floor(bucket.index / width)
    const last = points.at(-1)
    if (last && own === group) points[points.length - 1] = { ...last, lastX, values: join(last.values, values) }
    else points.push({ first, lastX, values: [...values] })
    group = own
  }
  return toColumns(points, { x, width })
}

function join([min, max, sum, , count]: MetricValues, later: MetricValues): MetricValues {
  return [Math.min(min, later[0]), Math.max(max, later[1]), sum + later[2], later[3], count + later[4]]
}

/** A wide bucket does not know its last index. Its metric may be missing there, too. */
function readAxis({ index, firstStep, lastStep, firstAt, lastAt }: MetricBucket, x: EnvelopeAxis): [number, number] {
  if (x === 'step') return [firstStep, lastStep]
  if (x === 'time') return [firstAt.getTime(), lastAt.getTime()]
  return [index, index]
}

/** Writes points as columns. */
function toColumns(points: readonly Point[], { x, width }: { x: EnvelopeAxis; width: number }): Envelope {
  const column = (read: (point: Point) => number) => points.map(read)
  return {
    x,
    exact: points.every(({ values }) => values[4] === 1),
    width,
    first: column(({ first }) => first),
    last_x: column(({ lastX }) => lastX),
    min: column(({ values }) => values[0]),
    max: column(({ values }) => values[1]),
    // A mean of large equal values must not leave their range by rounding.
    mean: column(({ values: [min, max, sum, , count] }) => Math.min(max, Math.max(min, sum / count))),
    last: column(({ values }) => values[3]),
    count: column(({ values }) => values[4]),
  }
}
