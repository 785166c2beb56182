import { expect, test } from 'vitest'
import { listDashboardQueries } from './dashboard.ts'
import { listDefaultMetrics, listMetrics, metricTables } from '../../tools/metric-tables.ts'

// vLLM's own, which engines serve. `npm test -- dashboard` finds data of each.
const engineMetrics = [
  'vllm:generation_tokens_total',
  'vllm:kv_cache_usage_perc',
  'vllm:num_requests_running',
  'vllm:num_requests_waiting',
  'vllm:prompt_tokens_total',
  'vllm:time_to_first_token_seconds_bucket',
]

async function listSeriesNames(): Promise<Set<string>> {
  const metrics = [...Object.values(metricTables).flatMap(listMetrics), ...(await listDefaultMetrics())]
  const own = metrics.flatMap(({ name, type }) =>
    type === 'histogram' ? ['bucket', 'sum', 'count'].map((suffix) => `${name}_${suffix}`) : [name],
  )
  return new Set([...own, ...engineMetrics])
}

test('every query of the dashboard asks for metrics that exist', async () => {
  const known = await listSeriesNames()
  const queries = listDashboardQueries()
  expect(queries.length).toBeGreaterThan(20)
  for (const { panel, expression } of queries) {
    const names = expression.match(/\b(trainyard_|vllm:|nodejs_|process_)[a-z0-9_]+/g) ?? []
    expect(names, panel).not.toEqual([])
    expect(
      names.filter((name) => !known.has(name)),
      panel,
    ).toEqual([])
  }
})
