import { makeBand, type Band, type Point } from './series.ts'

/** What the x of charts is: the model's step, the gradient step over all its jobs, or the time. */
export const axes = ['step', 'gradient step', 'time'] as const
export type AxisName = (typeof axes)[number]
/** The name of an axis in requests. */
export type Axis = 'step' | 'index' | 'time'

export function axisOf(name: AxisName): Axis {
  return name === 'gradient step' ? 'index' : name
}

/** A metric along an axis. */
export interface Curve {
  points: Point[]
  /** The least and the greatest values of each bucket, if its points are means of several values. */
  extremes?: Band
  /** How many values a point stands for at most. */
  width: number
}

/** A metric as the API answers it. */
interface Answered {
  key: string
  source: 'training' | 'gradient' | 'logged'
  points: Point[]
  envelope?: { exact: boolean; width: number; first: number[]; min: number[]; max: number[]; mean: number[] }
}

/**
 * One curve for each metric. By step, the value of a job counts before those of its gradient steps, which follow for the
 * job at work; along the other axes they do. What a client logs under the same name comes last, and has no position along the others.
 */
export function chooseCurves(metrics: readonly Answered[], axis: Axis): Record<string, Curve> {
  const sources = axis === 'step' ? ['training', 'gradient', 'logged'] : ['gradient', 'training']
  const ranked = metrics
    .filter(({ source }) => sources.includes(source))
    .filter(({ source }) => axis !== 'index' || source === 'gradient')
    .toSorted((a, b) => sources.indexOf(b.source) - sources.indexOf(a.source))
  const curves = Object.fromEntries(ranked.map((metric) => [metric.key, readCurve(metric)]))
  if (axis === 'step')
    for (const { key, source, envelope } of metrics)
      if (source === 'gradient' && envelope) addLater(curves[key]!, envelope)
  return curves
}

/** Each step without a value of its own has that of its newest gradient step: the job at work makes it. */
function addLater(curve: Curve, { first, mean }: NonNullable<Answered['envelope']>): void {
  const last = curve.points.at(-1)?.step ?? -Infinity
  const values = new Map(curve.points.map(({ step, value }) => [step, value]))
  for (const [index, step] of first.entries()) if (step > last) values.set(step, mean[index]!)
  curve.points = [...values].map(([step, value]) => ({ step, value }))
}

function readCurve({ points, envelope }: Answered): Curve {
  if (!envelope) return { points, width: 1 }
  const column = (values: readonly number[]) => envelope.first.map((step, index) => ({ step, value: values[index]! }))
  const means = column(envelope.mean)
  if (envelope.exact) return { points: means, width: 1 }
  return { points: means, width: envelope.width, extremes: { low: column(envelope.min), high: column(envelope.max) } }
}

/** The names under which the deviation of a reward may be known. */
export function deviationsOf(key: string): string[] {
  if (!/(?:^|\/)reward$/.test(key)) return []
  return key.startsWith('val/') ? [`${key}_std_dev`] : [...new Set([`${key}_std_dev`, 'reward_std_dev'])]
}

/** The band around a curve: what its buckets contain, or its deviation. */
export function bandOf(key: string, curves: Readonly<Record<string, Curve>>): Band | undefined {
  const curve = curves[key]
  if (!curve) return undefined
  if (curve.extremes) return curve.extremes
  const deviation = deviationsOf(key).find((name) => curves[name] !== undefined)
  return deviation === undefined ? undefined : makeBand(curve.points, curves[deviation]!.points)
}

/** Something that happened to a model, at a position of an axis. */
export interface Marker {
  kind: 'alias' | 'checkpoint' | 'failure'
  step: number
  name: string
}

/** What markers need of a job. */
interface PlacedJob {
  state: string
  step: number | null
  progress: { step: number }
  failure: { code: string } | null
  finished_at: string | null
}

/**
 * Where the checkpoints, aliases and failures of a model are on an axis. `jobs` are its newest, the newest first, and
 * `total` is how many gradient steps the model has.
 */
export function positionMarkers(
  axis: Axis,
  { jobs, aliases, total }: { jobs: readonly PlacedJob[]; aliases: Readonly<Record<string, number>>; total: number },
): Marker[] {
  const markers: Marker[] = []
  const byStep = new Map<number, number>()
  let end = total
  for (const [index, job] of jobs.entries()) {
    const earlier = jobs.slice(index + 1).find(({ step }) => step !== null)?.step ?? 0
    const time = job.finished_at === null ? undefined : Date.parse(job.finished_at)
    const position = { step: job.step ?? earlier + 1, index: end - 1, time }[axis]
    end -= job.progress.step
    if (position === undefined || position < 0) continue
    if (job.step !== null) {
      byStep.set(job.step, position)
      markers.push({ kind: 'checkpoint', step: position, name: `checkpoint ${job.step}` })
    } else if (job.state === 'Failed')
      markers.push({ kind: 'failure', step: position, name: `failed: ${job.failure?.code ?? 'unknown'}` })
  }
  for (const [name, step] of Object.entries(aliases)) {
    const position = axis === 'step' ? step : byStep.get(step)
    if (position !== undefined) markers.push({ kind: 'alias', step: position, name })
  }
  return markers
}

/** The step of the model that a position of an axis belongs to: that of the first checkpoint from there on. */
export function stepAt(position: number, axis: Axis, markers: readonly Marker[]): number | undefined {
  if (axis === 'step') return Math.round(position)
  const next = markers
    .filter(({ kind, step }) => kind === 'checkpoint' && step >= position)
    .toSorted((a, b) => a.step - b.step)[0]
  return next && Number(next.name.split(' ')[1])
}

/** The range of values that a chart shows: never empty, and not below zero for values that are not. */
export function rangeOf(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || (low === 0 && high === 0)) return [0, 1]
  const around = low === high ? Math.abs(low) * 0.1 : (high - low) * 0.08
  return [low >= 0 ? Math.max(0, low - around) : low - around, high <= 0 ? Math.min(0, high + around) : high + around]
}
