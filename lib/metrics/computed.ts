import { Counter, Gauge, type Registry } from 'prom-client'
import { DurationsHistogram, type DurationSeries } from './durations-histogram.ts'
import type { MetricDefinition } from './definition.ts'

/** One value of a metric. */
export interface Sample {
  labels?: Readonly<Record<string, string | number>>
  value: number
}

type List<T> = () => Iterable<T> | Promise<Iterable<T>>

/** Registers a gauge whose values are listed when it is scraped. */
export function registerGauge(registry: Registry, definition: MetricDefinition, list: List<Sample>): void {
  const gauge = new Gauge({
    ...definition,
    registers: [],
    async collect() {
      const samples = await list()
      this.reset()
      for (const { labels = {}, value } of samples) this.set({ ...labels }, value)
    },
  })
  registry.registerMetric(gauge)
}

/** Registers a counter of events that are counted elsewhere. They are listed when it is scraped. */
export function registerCounter(registry: Registry, definition: MetricDefinition, list: List<Sample>): void {
  const counter = new Counter({
    ...definition,
    registers: [],
    async collect() {
      const samples = await list()
      this.reset()
      for (const { labels = {}, value } of samples) this.inc({ ...labels }, value)
    },
  })
  registry.registerMetric(counter)
}

/** Registers a histogram of durations that are counted elsewhere. They are listed when it is scraped. */
export function registerDurations(
  registry: Registry,
  definition: MetricDefinition,
  list: () => Iterable<DurationSeries>,
): void {
  registry.registerMetric(new DurationsHistogram(definition, list))
}
