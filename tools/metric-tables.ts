import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Registry, collectDefaultMetrics } from 'prom-client'
import { gatewayMetrics } from '../apiserver/metrics/table.ts'
import { databaseMetrics } from '../db/metrics/table.ts'
import type { MetricDefinition, MetricTable } from '../lib/metrics/definition.ts'
import { serverMetrics } from '../lib/metrics/table.ts'
import { operatorMetrics } from '../operator/metrics/table.ts'

/** A metric with its type, as Prometheus sees it. */
export interface ListedMetric extends MetricDefinition {
  type: string
}

const trainerFile = path.join(import.meta.dirname, '../trainer/trainyard_trainer/metrics.json')
const trainerMetrics = JSON.parse(readFileSync(trainerFile, 'utf8')) as MetricTable

/** The tables of our metrics, with the parts that serve them. */
export const metricTables: Readonly<Record<string, MetricTable>> = {
  'apiserver and status server': serverMetrics,
  apiserver: gatewayMetrics,
  operator: operatorMetrics,
  trainer: trainerMetrics,
  'apiserver, operator and status server': databaseMetrics,
}

export function listMetrics({ counters, gauges, histograms }: MetricTable): ListedMetric[] {
  const list = (type: string, table: Readonly<Record<string, MetricDefinition>>) =>
    Object.values(table).map((definition) => ({ ...definition, type }))
  return [...list('counter', counters), ...list('gauge', gauges), ...list('histogram', histograms)]
}

/** What prom-client measures of each process. It does not tell the labels. */
export async function listDefaultMetrics(): Promise<ListedMetric[]> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = await registry.getMetricsAsJSON()
  return metrics.map(({ name, help, type }) => ({ name, help, type: String(type), labelNames: [] }))
}
