import type { MetricTable } from '../../lib/metrics/definition.ts'

const baseModel = ['base_model'] as const

/** The metrics of the gateway, beside those of every server. */
export const gatewayMetrics = {
  counters: {},
  gauges: {
    inFlight: {
      name: 'trainyard_engine_requests_in_flight',
      help: 'Requests that the gateway has sent to engines and whose answers are not complete.',
      labelNames: baseModel,
    },
    waiting: {
      name: 'trainyard_engine_requests_waiting',
      help: 'Requests that wait in the gateway. The reason is `held` (no engine was Ready when they arrived) or `busy` (all engines were full).',
      labelNames: ['base_model', 'reason'],
    },
    engines: {
      name: 'trainyard_engines_usable',
      help: 'Engine pods that the gateway sends requests to.',
      labelNames: baseModel,
    },
  },
  histograms: {},
} as const satisfies MetricTable
