import type { Registry } from 'prom-client'
import type { WorkQueue } from '../../lib/kube/queue.ts'
import { registerCounter, registerDurations, registerGauge } from '../../lib/metrics/computed.ts'
import { operatorMetrics } from './table.ts'

const { counters, gauges, histograms } = operatorMetrics

/** Registers the metrics of the work queues. The name of a queue is that of its controller. */
export function registerQueueMetrics(registry: Registry, queues: readonly WorkQueue[]): void {
  const list = (read: (queue: WorkQueue) => number) =>
    queues.map((queue) => ({ labels: { controller: queue.name }, value: read(queue) }))
  const listDurations = (key: 'waits' | 'works') =>
    queues.map((queue) => ({ labels: { controller: queue.name }, durations: queue[key] }))
  registerCounter(registry, counters.reconciles, () => list(({ works }) => works.count))
  registerCounter(registry, counters.reconcileErrors, () => list(({ errorCount }) => errorCount))
  registerGauge(registry, gauges.queueDepth, () => list(({ depth }) => depth))
  registerDurations(registry, histograms.queueWaits, () => listDurations('waits'))
  registerDurations(registry, histograms.reconcileDurations, () => listDurations('works'))
}
