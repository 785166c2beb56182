import type { MetricTable } from '../../lib/metrics/definition.ts'

const pool = ['pool'] as const

/** The metrics of a process about its connections to Postgres. */
export const databaseMetrics = {
  counters: {
    waits: {
      name: 'trainyard_database_pool_waits_total',
      help: 'How often work had to wait for a connection of the pool: all were in use, or the entity had its share.',
      labelNames: pool,
    },
    reconnects: {
      name: 'trainyard_database_listen_reconnects_total',
      help: 'How often a connection that listens for notifications of Postgres was opened again after it broke.',
      labelNames: [],
    },
  },
  gauges: {
    connections: {
      name: 'trainyard_database_pool_connections',
      help: 'Open connections of the pool. The state is `busy` or `idle`.',
      labelNames: ['pool', 'state'],
    },
    waiting: {
      name: 'trainyard_database_pool_waiting',
      help: 'Work that waits for a connection of the pool now.',
      labelNames: pool,
    },
  },
  histograms: {},
} as const satisfies MetricTable
