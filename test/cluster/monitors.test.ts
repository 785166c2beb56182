import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHelm, parseManifests } from '../support/helm.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)
const module = 'github.com/prometheus-operator/prometheus-operator'
const kinds = ['podmonitors', 'prometheusrules', 'servicemonitors']

const stack = useStack()
const helm = createHelm(stack)
const labels = { release: 'prometheus' }
const monitor = { enabled: true, interval: '10s', labels }

/** The custom resource definitions of the Prometheus operator, from its module. */
async function findDefinitions(): Promise<string[]> {
  const cwd = path.join(import.meta.dirname, '..', 'support', 'monitoring')
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd })
  const folder = path.join((JSON.parse(stdout) as { Dir: string }).Dir, 'example', 'prometheus-operator-crd')
  return kinds.map((kind) => path.join(folder, `monitoring.coreos.com_${kind}.yaml`))
}

let definitions: string[]
beforeAll(async () => {
  definitions = await findDefinitions()
  await stack.kubectl('apply', '--server-side', ...definitions.flatMap((file) => ['-f', file]))
  const names = kinds.map((kind) => `crd/${kind}.monitoring.coreos.com`)
  await stack.kubectl('wait', '--for=condition=Established', ...names, '--timeout=60s')
})
afterAll(() => stack.kubectl('delete', '--wait=false', ...definitions.flatMap((file) => ['-f', file])))

const countOf = (manifests: string) =>
  parseManifests(manifests)
    .map(({ kind }) => kind)
    .filter((kind) => kinds.includes(`${kind.toLowerCase()}s`))
    .toSorted()

test('a Prometheus operator gets nothing by default', async () => {
  expect(countOf(await helm.render('default', {}))).toEqual([])
})

test.each<[string, object, string[]]>([
  [
    'PodMonitors and rules',
    { podMonitor: monitor, rules: { enabled: true, labels } },
    [...Array(3).fill('PodMonitor'), 'PrometheusRule'],
  ],
  ['a ServiceMonitor', { serviceMonitor: monitor }, ['ServiceMonitor']],
  [
    // No pod is read twice.
    'a ServiceMonitor, and PodMonitors for the pods without a Service',
    { serviceMonitor: monitor, podMonitor: monitor },
    ['PodMonitor', 'PodMonitor', 'ServiceMonitor'],
  ],
])('the schemas of the Prometheus operator accept %s', async (_, metrics, expected) => {
  const manifests = await helm.render('default', { metrics })
  expect(countOf(manifests)).toEqual(expected)
  const answer = await helm.dryRun(manifests)
  expect(answer.trim().split('\n')).toHaveLength(parseManifests(manifests).length)
})

test('an unknown field of a monitor would be rejected', async () => {
  const manifests = await helm.render('default', { metrics: { serviceMonitor: monitor } })
  await expect(helm.dryRun(manifests.replace('interval: 10s', 'intervall: 10s'))).rejects.toThrow('intervall')
})

test('a ServiceMonitor reads the control pods by a Service for metrics alone', async () => {
  const manifests = parseManifests(await helm.render('default', { metrics: { serviceMonitor: monitor } }))
  const find = (kind: string, name: string) => manifests.find((one) => one.kind === kind && one.metadata.name === name)
  const service = find('Service', 'trainyard-metrics')!
  expect(service['spec']).toEqual({
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: { 'app.kubernetes.io/name': 'trainyard', 'app.kubernetes.io/instance': 'trainyard' },
    ports: [{ name: 'metrics', port: 8083, targetPort: 'metrics' }],
  })
  const own = (service.metadata as unknown as { labels: Record<string, string> }).labels
  const { selector } = find('ServiceMonitor', 'trainyard-control')!['spec'] as {
    selector: { matchLabels: Record<string, string> }
  }
  expect(own).toMatchObject(selector.matchLabels)
  const others = manifests.filter(({ kind, metadata }) => kind === 'Service' && metadata.name !== 'trainyard-metrics')
  for (const { metadata } of others)
    expect((metadata as unknown as { labels: object }).labels).not.toMatchObject(selector.matchLabels)
})
