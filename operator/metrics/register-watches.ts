import type { Registry } from 'prom-client'
import { registerCounter, registerGauge } from '../../lib/metrics/computed.ts'
import { operatorMetrics } from './table.ts'

/** What metrics read of a watch of one kind. */
interface Watch {
  kind: string
  restarts: number
  ageMs: number
}

interface LeaderState {
  isLeading: () => boolean
  /** A standby has none. */
  listWatches: () => readonly Watch[]
}

const { counters, gauges } = operatorMetrics

/** Registers whether this replica leads, and the state of its watches. */
export function registerWatchMetrics(registry: Registry, { isLeading, listWatches }: LeaderState): void {
  registerGauge(registry, gauges.leader, () => [{ value: Number(isLeading()) }])
  registerCounter(registry, counters.watchRestarts, () =>
    listWatches().map(({ kind, restarts }) => ({ labels: { kind }, value: restarts })),
  )
  // A watch that was not listed yet has no age.
  registerGauge(registry, gauges.watchAge, () =>
    listWatches()
      .filter(({ ageMs }) => Number.isFinite(ageMs))
      .map(({ kind, ageMs }) => ({ labels: { kind }, value: ageMs / 1000 })),
  )
}
