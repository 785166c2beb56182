import { listSeries, readMetrics } from '../../support/metrics.ts'

/** How many reconciliations took at most as long as each bound, in seconds. The last bound is Infinity. */
export type Reconciles = Map<number, number>

const bucket = 'trainyard_reconcile_duration_seconds_bucket'

/** Reads the durations of the reconciliations of training jobs from the operator's metrics. */
export async function readReconciles(port: number): Promise<Reconciles> {
  const series = listSeries(await readMetrics(port), bucket).filter((line) =>
    line.includes('controller="training-jobs"'),
  )
  return new Map(
    series.map((line) => {
      const bound = /le="([^"]+)"/.exec(line)![1]!
      return [bound === '+Inf' ? Infinity : Number(bound), Number(line.split(' ').at(-1))]
    }),
  )
}

/** The bound in seconds below which this share of the reconciliations between two readings is, between two buckets. */
export function percentileOf(after: Reconciles, before: Reconciles, share: number): number {
  const counts = [...after].map(([bound, count]) => ({ bound, count: count - (before.get(bound) ?? 0) }))
  const wanted = share * (counts.at(-1)?.count ?? 0)
  let below = { bound: 0, count: 0 }
  for (const each of counts) {
    if (each.count >= wanted) {
      if (each.bound === Infinity) return Infinity
      return below.bound + ((each.bound - below.bound) * (wanted - below.count)) / (each.count - below.count || 1)
    }
    below = each
  }
  return Infinity
}
