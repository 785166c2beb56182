import type { MetricTable } from './definition.ts'

const request = ['group', 'method', 'route'] as const

/** The metrics of every server. */
export const serverMetrics = {
  counters: {
    requests: {
      name: 'trainyard_http_requests_total',
      help: 'Answered requests. The route is a template, or `unknown` for all other paths and methods.',
      labelNames: [...request, 'status'],
    },
  },
  gauges: {
    inFlight: {
      name: 'trainyard_http_requests_in_flight',
      help: 'Requests that have begun and whose answer is not complete.',
      labelNames: ['group'],
    },
  },
  histograms: {
    durations: {
      name: 'trainyard_http_request_duration_seconds',
      help: 'The time from the headers of a request to the end of its answer. Streams count until their end.',
      labelNames: request,
    },
  },
} as const satisfies MetricTable
