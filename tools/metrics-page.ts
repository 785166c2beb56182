import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { listDefaultMetrics, listMetrics, metricTables, type ListedMetric } from './metric-tables.ts'

const root = path.dirname(import.meta.dirname)
const file = path.join(root, 'docs', 'metrics.md')

/** Renders docs/metrics.md: the handwritten text above the tables, and the tables of metrics. */
export async function renderMetricsPage(): Promise<string> {
  const head = readFileSync(path.join(import.meta.dirname, 'metrics-head.md'), 'utf8')
  const own = Object.entries(metricTables).map(([parts, table]) => renderTable(`Of ${parts}`, listMetrics(table)))
  const defaults = renderTable('Of every process, by prom-client', await listDefaultMetrics())
  return [head, ...own, defaults].join('\n')
}

function renderTable(title: string, metrics: readonly ListedMetric[]): string {
  const rows = metrics.map(({ name, type, labelNames, help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${labels} | ${help} |\n`
  })
  return `## ${title}\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n${rows.join('')}`
}

if (import.meta.main) {
  const page = await renderMetricsPage()
  if (!process.argv.includes('--check')) writeFileSync(file, page)
  else if (page !== readFileSync(file, 'utf8')) {
    console.error('docs/metrics.md is not what the tables of metrics make: npm run gen')
    process.exitCode = 1
  }
  // prom-client observes the event loop.
  process.exit()
}
