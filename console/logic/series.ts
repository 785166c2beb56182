import { listCopies, nameToday } from './metric-names.ts'

export interface Point {
  /** Its position on the axis: a step, or the number of a gradient step, or a time. */
  step: number
  value: number
}

/** Columns with one common x, as charts need them. A series without a value at an x has null there. */
export interface Columns {
  x: number[]
  ys: (number | null)[][]
}

/** Joins series by their steps. If a step occurs twice in a series, its last value counts. */
export function joinSeries(series: readonly (readonly Point[])[]): Columns {
  const x = [...new Set(series.flatMap((points) => points.map(({ step }) => step)))].toSorted((a, b) => a - b)
  const ys = series.map((points) => {
    const values = new Map(points.map(({ step, value }) => [step, value]))
    return x.map((step) => values.get(step) ?? null)
  })
  return { x, ys }
}

/** Two series that bound a band around another. */
export interface Band {
  low: Point[]
  high: Point[]
}

/** The band of a value plus and minus its deviation. */
export function makeBand(middle: readonly Point[], deviation: readonly Point[]): Band {
  const deviations = new Map(deviation.map(({ step, value }) => [step, value]))
  const known = middle.flatMap(({ step, value }) => {
    const around = deviations.get(step)
    return around === undefined ? [] : [{ step, value, around }]
  })
  return {
    low: known.map(({ step, value, around }) => ({ step, value: value - around })),
    high: known.map(({ step, value, around }) => ({ step, value: value + around })),
  }
}

interface SeriesToDescribe {
  name: string
  points: readonly Point[]
  /** What the points are means of. */
  extremes?: Band | undefined
}

/** Describes a series in one sentence, for those who do not see its chart. `formatStep` writes a position on the axis. */
export function describeSeries(
  { name, points, extremes }: SeriesToDescribe,
  format: (value: number) => string,
  formatStep = (step: number) => `step ${step}`,
): string {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return `${name}: no values yet.`
  if (first === last) return `${name}: ${format(first.value)} at ${formatStep(first.step)}.`
  const highest = (extremes?.high ?? points).reduce((best, { value }) => Math.max(best, value), -Infinity)
  const lowest = (extremes?.low ?? points).reduce((best, { value }) => Math.min(best, value), Infinity)
  return (
    `${name}: ${format(first.value)} at ${formatStep(first.step)}, ${format(last.value)} at ${formatStep(last.step)}; ` +
    `lowest ${format(lowest)}, highest ${format(highest)}.`
  )
}

/** The line of a small chart as the points of an SVG polyline in a box of this size. */
export function drawSparkline(points: readonly Point[], width: number, height: number): string {
  if (points.length === 0) return ''
  const values = points.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [begin, end] = [points[0]!.step, points.at(-1)!.step]
  const across = (step: number) => (end === begin ? width : ((step - begin) / (end - begin)) * width)
  const down = (value: number) => (high === low ? height / 2 : height - ((value - low) / (high - low)) * height)
  return points.map(({ step, value }) => `${across(step).toFixed(1)},${down(value).toFixed(1)}`).join(' ')
}

// Names of the service. Clients log copies of them, and val/… beside them.
const firstCharts: readonly (readonly string[])[] = [
  ['reward', 'val/reward'],
  ['loss'],
  ['entropy'],
  ['kl_div'],
  ['kl_policy_ref'],
  ['grad_norm'],
  ['clip_fraction'],
  ['completion_tokens', 'val/completion_tokens'],
  ['num_trainable_tokens'],
  ['tokens_per_second'],
  ['exception_rate', 'val/exception_rate'],
]

/**
 * Arranges the metrics of a run as charts: the known ones first, under each of their names, train and val in one chart,
 * then all others by their names. `words` leaves the charts with a metric that has a name with all these words.
 */
export function arrangeCharts(keys: readonly string[], words = ''): string[][] {
  const find = (name: string) => [name, ...listCopies(name)].filter((each) => keys.includes(each))
  const known = firstCharts.map((chart) => chart.flatMap(find)).filter((chart) => chart.length > 0)
  const placed = new Set([...known.flat(), ...keys.filter((key) => /(?:^|\/)reward_std_dev$/.test(key))])
  const others = Map.groupBy(keys.filter((key) => !placed.has(key)).toSorted(), nameToday)
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const fits = (chart: string[]) =>
    chart
      .flatMap((key) => [key, ...listCopies(key)])
      .some((name) => wanted.every((word) => name.toLowerCase().includes(word)))
  return [...known, ...others.values()].filter(fits)
}
