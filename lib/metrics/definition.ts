/** A metric as docs/metrics.md lists it. prom-client takes the same members. */
export interface MetricDefinition {
  name: string
  /** Prometheus shows it beside the name. */
  help: string
  labelNames: readonly string[]
}

/** The metrics of a part by their kinds. Each metric is declared in one such table. */
export interface MetricTable {
  counters: Readonly<Record<string, MetricDefinition>>
  gauges: Readonly<Record<string, MetricDefinition>>
  histograms: Readonly<Record<string, MetricDefinition>>
}
