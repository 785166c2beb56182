import { group } from '../../../crds/names.ts'
import { listSeries } from '../../support/metrics.ts'

/** Counts by name, between two readings. */
type Counts = Map<string, number>

const readVerbs = new Set(['GET', 'LIST', 'WATCH', 'CONNECT'])
const groups = new Set([group, 'events.k8s.io'])
const labelOf = (line: string, name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? ''
const valueOf = (line: string) => Number(line.split(' ').at(-1))

/** The writes of our resources, and of Events about them, from kube-apiserver's own metrics. */
export function countWrites(metrics: string): number {
  return listSeries(metrics, 'apiserver_request_total')
    .filter((line) => groups.has(labelOf(line, 'group')) && !readVerbs.has(labelOf(line, 'verb')))
    .reduce((sum, line) => sum + valueOf(line), 0)
}

/** How many reconciliations of training jobs took at most as long as each bound, in seconds. */
export function readReconciles(metrics: string): Counts {
  const series = listSeries(metrics, 'trainyard_reconcile_duration_seconds_bucket')
  const own = series.filter((line) => line.includes('controller="training-jobs"'))
  return new Map(own.map((line) => [labelOf(line, 'le'), valueOf(line)]))
}

export function subtract(after: Counts, before: Counts): Counts {
  return new Map([...after].map(([key, count]) => [key, count - (before.get(key) ?? 0)]))
}

/** The bound below which this share of what a histogram counts is, between two buckets. */
export function percentileOf(buckets: Counts, share: number): number {
  const counts = [...buckets].map(([bound, count]) => ({ bound: Number(bound.replace('+Inf', 'Infinity')), count }))
  const wanted = share * (counts.at(-1)?.count ?? 0)
  const at = counts.findIndex(({ count }) => count >= wanted)
  const [below, found] = [counts[at - 1] ?? { bound: 0, count: 0 }, counts[at]!]
  if (found.bound === Infinity) return Infinity
  return below.bound + ((found.bound - below.bound) * (wanted - below.count)) / (found.count - below.count || 1)
}
