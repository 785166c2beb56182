import { databaseMetrics } from '../../db/metrics/table.ts'
import type { MetricDefinition } from '../../lib/metrics/definition.ts'
import { serverMetrics } from '../../lib/metrics/table.ts'
import { operatorMetrics } from '../../operator/metrics/table.ts'

/** Series in promtool's notation (`0+1x60` is a number that grows by one each minute) that make one alert fire. */
export interface AlertCase {
  alert: string
  series: Record<string, string>
}

/** The namespace of the made-up series. */
export const namespace = 'alerts'

const { counters, gauges, histograms } = operatorMetrics

/** A series of a declared metric, with the labels that Prometheus adds. */
function seriesOf({ name, labelNames }: MetricDefinition, labels: Record<string, string> = {}, suffix = ''): string {
  for (const label of Object.keys(labels))
    if (!['pod', 'le', ...labelNames].includes(label)) throw new Error(`${name} has no label ${label}`)
  return describe(name + suffix, labels)
}

function describe(name: string, labels: Record<string, string>): string {
  const all = { namespace, pod: 'a', ...labels }
  return `${name}{${Object.entries(all)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`
}

const controller = 'jobs'
const waiting = { base_model: 'tiny', state: 'Queued' }
const training = { base_model: 'tiny', state: 'Running' }
const part = { container: 'operator' }
const request = { group: 'training' }

/** Two hours of an installation that works. */
export const healthy: Record<string, string> = {
  [seriesOf(gauges.leader)]: '1x120',
  [seriesOf(gauges.leader, { pod: 'b' })]: '0x120',
  [describe('up', part)]: '1x120',
  [describe('process_start_time_seconds', part)]: '7x120',
  [seriesOf(gauges.pods, { base_model: 'tiny', role: 'engine', state: 'starting' })]: '0x120',
  [seriesOf(gauges.jobs, waiting)]: '5x120',
  [seriesOf(gauges.jobs, training)]: '1x120',
  [seriesOf(gauges.queueDepth, { controller })]: '3x120',
  [seriesOf(counters.reconciles, { controller })]: '0+60x120',
  [seriesOf(counters.reconcileErrors, { controller })]: '0+6x120',
  [seriesOf(histograms.queueWaits, { controller, le: '1' }, '_bucket')]: '0+60x120',
  [seriesOf(histograms.queueWaits, { controller, le: '+Inf' }, '_bucket')]: '0+60x120',
  [seriesOf(gauges.watchAge, { kind: 'Pod' })]: '50x120',
  [seriesOf(gauges.storeBytes, { state: 'free' })]: '50x120',
  [seriesOf(gauges.storeBytes, { state: 'used' })]: '50x120',
  [seriesOf(databaseMetrics.gauges.waiting, { pool: 'main' })]: '0x120',
  [seriesOf(serverMetrics.counters.requests, { ...request, status: '200' })]: '0+600x120',
  [seriesOf(serverMetrics.counters.requests, { ...request, status: '503' })]: '0+6x120',
}

/** What is different while one thing is wrong. */
export const alertCases: readonly AlertCase[] = [
  { alert: 'TrainyardNoLeader', series: { [seriesOf(gauges.leader)]: '0x120' } },
  { alert: 'TrainyardPartDown', series: { [describe('up', part)]: '0x120' } },
  { alert: 'TrainyardCrashLoop', series: { [describe('process_start_time_seconds', part)]: '0+10x120' } },
  {
    alert: 'TrainyardPodsNotReady',
    series: { [seriesOf(gauges.pods, { base_model: 'tiny', role: 'engine', state: 'starting' })]: '1x120' },
  },
  { alert: 'TrainyardJobsStuck', series: { [seriesOf(gauges.jobs, training)]: '0x120' } },
  {
    alert: 'TrainyardQueueStuck',
    series: {
      [seriesOf(counters.reconciles, { controller })]: '9x120',
      [seriesOf(counters.reconcileErrors, { controller })]: '0x120',
    },
  },
  {
    alert: 'TrainyardEventsLate',
    series: {
      [seriesOf(histograms.queueWaits, { controller, le: '1' }, '_bucket')]: '0x120',
      [seriesOf(histograms.queueWaits, { controller, le: '60' }, '_bucket')]: '0+60x120',
    },
  },
  { alert: 'TrainyardWatchStale', series: { [seriesOf(gauges.watchAge, { kind: 'Pod' })]: '150x120' } },
  { alert: 'TrainyardReconcileErrors', series: { [seriesOf(counters.reconcileErrors, { controller })]: '0+50x120' } },
  { alert: 'TrainyardStoreFull', series: { [seriesOf(gauges.storeBytes, { state: 'free' })]: '5x120' } },
  {
    alert: 'TrainyardDatabaseConnectionsShort',
    series: { [seriesOf(databaseMetrics.gauges.waiting, { pool: 'main' })]: '2x120' },
  },
  {
    alert: 'TrainyardServerErrors',
    series: { [seriesOf(serverMetrics.counters.requests, { ...request, status: '503' })]: '0+60x120' },
  },
]
