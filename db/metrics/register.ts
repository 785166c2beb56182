import type { Registry } from 'prom-client'
import { registerCounter, registerGauge } from '../../lib/metrics/computed.ts'
import { listenStatistics } from '../listen.ts'
import type { Pool } from '../pool.ts'
import { databaseMetrics } from './table.ts'

const { counters, gauges } = databaseMetrics

/** Registers the metrics of a process's pools, by the names of the pools, and of its listening connections. */
export function registerDatabaseMetrics(registry: Registry, pools: Readonly<Record<string, Pool>>): void {
  const named = Object.entries(pools)
  registerCounter(registry, counters.reconnects, () => [{ value: listenStatistics.reconnects }])
  registerCounter(registry, counters.waits, () =>
    named.map(([pool, { waits }]) => ({ labels: { pool }, value: waits })),
  )
  registerGauge(registry, gauges.waiting, () =>
    named.map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
  )
  registerGauge(registry, gauges.connections, () =>
    named.flatMap(([pool, { idleCount, totalCount }]) => [
      { labels: { pool, state: 'idle' }, value: idleCount },
      { labels: { pool, state: 'busy' }, value: totalCount - idleCount },
    ]),
  )
}
