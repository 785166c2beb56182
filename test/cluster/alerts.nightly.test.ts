import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { runChild } from '../../local/install/run-child.ts'
import { alertCases, healthy, namespace } from './alert-cases.ts'
import { createHelm, parseManifests } from '../support/helm.ts'
import { installPrometheus } from '../support/prometheus.ts'
import { listDefaultMetrics, listMetrics, metricTables } from '../../tools/metric-tables.ts'
import { useStack } from '../support/stack.ts'

const helm = createHelm(useStack())

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[]
}

async function readRules(): Promise<Rules> {
  const manifests = parseManifests(
    await helm.render(namespace, { metrics: { rules: { enabled: true, labels: { release: 'a' } } } }),
  )
  const found = manifests.find(({ kind }) => kind === 'PrometheusRule')!
  expect(found.metadata).toMatchObject({ namespace, labels: { release: 'a' } })
  return found['spec'] as Rules
}

test('there are no alerts by default', async () => {
  expect(await helm.render(namespace, {})).not.toContain('PrometheusRule')
})

test('alerts read declared metrics only, of the namespace of the release', async () => {
  const { groups } = await readRules()
  const declared = [...Object.values(metricTables).flatMap(listMetrics), ...(await listDefaultMetrics())]
  const names = new Set([...declared.map(({ name }) => name), 'up'])
  const selectors = groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ expr }) =>
      [...expr.matchAll(/(\w+)\{namespace="alerts"/g)].map(([, name]) => name!.replace(/_bucket$/, '')),
    )
  expect(selectors.length).toBeGreaterThan(alertCases.length)
  expect(selectors.filter((name) => !names.has(name))).toEqual([])
  expect(JSON.stringify(groups)).not.toContain('RELEASE_NAMESPACE')
})

test('docs/metrics.md has each alert, and there are made-up metrics for each', async () => {
  const alerts = (await readRules()).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  expect(alertCases.map(({ alert }) => alert).toSorted()).toEqual(alerts.toSorted())
  const page = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  expect(alerts.filter((alert) => !page.includes(`| \`${alert}\``))).toEqual([])
})

// Prometheus' promtool is downloaded.
test('each alert fires when one thing is wrong, and none fires when nothing is', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'alerts-'))
  try {
    await writeFile(path.join(folder, 'rules.json'), JSON.stringify(await readRules()))
    const cases = [{ alert: 'none', series: {} }, ...alertCases].map(({ alert, series }) => ({
      name: alert,
      interval: '1m',
      input_series: Object.entries({ ...healthy, ...series }).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: '115m',
          exp_samples: alert === 'none' ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
        },
      ],
    }))
    const file = path.join(folder, 'tests.json')
    await writeFile(file, JSON.stringify({ rule_files: ['rules.json'], evaluation_interval: '1m', tests: cases }))
    const { code, stdout, tail } = await runChild(await installPrometheus('promtool'), ['test', 'rules', file])
    expect({ code, output: code === 0 ? '' : stdout + tail }).toEqual({ code: 0, output: '' })
  } finally {
    await rm(folder, { recursive: true })
  }
})
