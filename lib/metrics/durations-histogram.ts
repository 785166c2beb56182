import { Histogram } from 'prom-client'
import type { MetricDefinition } from './definition.ts'
import { durationBuckets, type Durations } from './durations.ts'

type Labels = Readonly<Record<string, string>>

/** Durations with the labels of their series. */
export interface DurationSeries {
  labels: Labels
  durations: Durations
}

/** A value as prom-client's own histograms return it. */
interface HistogramValue {
  metricName: string
  labels: Record<string, string | number>
  /** The labels of the whole series. */
  sharedLabels: Labels
  value: number
}

/** A histogram of durations that are counted elsewhere. It reads them when it is scraped. */
export class DurationsHistogram extends Histogram {
  readonly #definition: MetricDefinition
  readonly #list: () => Iterable<DurationSeries>

  constructor(definition: MetricDefinition, list: () => Iterable<DurationSeries>) {
    super({ ...definition, buckets: durationBuckets, registers: [] })
    this.#definition = definition
    this.#list = list
  }

  /** The registry and prom-client's own `get` call this. prom-client's types do not declare it. */
  async getForPromString() {
    const { name, help } = this.#definition
    const values = [...this.#list()].flatMap((series) => presentSeries(name, series))
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  }
}

function presentSeries(name: string, { labels, durations }: DurationSeries): HistogramValue[] {
  const counts = durations.cumulativeCounts
  const buckets = [...durationBuckets, '+Inf'].map((le, index) => ({
    metricName: `${name}_bucket`,
    labels: { le },
    sharedLabels: labels,
    value: counts[index]!,
  }))
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, sharedLabels: labels, value: durations.sum },
    { metricName: `${name}_count`, labels: {}, sharedLabels: labels, value: counts.at(-1)! },
  ]
}
