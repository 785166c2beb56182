import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { buildEngineDeployment } from '../../operator/base-model/engine/deployment.ts'
import { buildTrainerPod } from '../../operator/base-model/trainer/pod.ts'
import { createHelm, parseManifests, type Manifest } from '../support/helm.ts'
import { NetworkPolicies, type NetworkPolicySpec, type PolicedPod } from '../support/network-policies.ts'
import { useStack } from '../support/stack.ts'
import { podSettings } from '../support/pod-settings.ts'

const stack = useStack()
const helm = createHelm(stack)
const namespace = `policies-${randomUUID().slice(0, 8)}`
const enabled = { networkPolicies: { enabled: true }, metrics: { from: ['monitoring'] } }

const render = (values: object, ...options: string[]) => helm.render(namespace, { ...enabled, ...values }, ...options)

interface Template {
  metadata: { labels: Record<string, string> }
  spec: { containers: { ports?: { name: string; containerPort: number }[] }[] }
}

const readPod = ({ metadata, spec }: Template): PolicedPod => ({
  labels: metadata.labels,
  ports: Object.fromEntries(
    spec.containers.flatMap(({ ports = [] }) => ports.map(({ name, containerPort }) => [name, containerPort])),
  ),
})

const describeModel = (source: object, colocated = false) =>
  ({
    metadata: { name: 'base', namespace, generation: 1, uid: 'u' },
    spec: { names: ['base'], source, ...(colocated && { colocated }) },
  }) as unknown as BaseModel
const rollout = { replicas: 1, rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }, rolledOutAt: '' }
const buildEngine = (baseModel: BaseModel) =>
  readPod((buildEngineDeployment(baseModel, podSettings, rollout).spec as unknown as { template: Template }).template)
const buildTrainer = (baseModel: BaseModel) =>
  readPod(buildTrainerPod(baseModel, podSettings, { name: 'trainer' }) as unknown as Template)

const hub = { hub: { id: 'Qwen/Qwen3-0.6B', revision: 'main' } }
const madePods = {
  engine: buildEngine(describeModel({ path: 'a' })),
  trainer: buildTrainer(describeModel({ path: 'a' })),
  'colocated engine': buildEngine(describeModel({ path: 'a' }, true)),
  'engine of a hub': buildEngine(describeModel(hub)),
  'trainer of a hub': buildTrainer(describeModel(hub)),
}

/** All pods of an installation, by name: those of the chart, and those that the operator makes. */
async function readPods(
  values: object,
  ...options: string[]
): Promise<{ pods: Record<string, PolicedPod>; policies: NetworkPolicies }> {
  const manifests = parseManifests(await render(values, ...options))
  const owners = manifests.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
  const templates = owners.map((owner) => [nameOf(owner), (owner['spec'] as { template: Template }).template] as const)
  const single = manifests
    .filter(({ kind }) => kind === 'Pod')
    .map((pod) => [nameOf(pod), pod as unknown as Template] as const)
  const ofChart = [...templates, ...single].map(([name, template]) => [name, readPod(template)] as const)
  const found = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as NetworkPolicySpec)
  return { pods: { ...Object.fromEntries(ofChart), ...madePods }, policies: new NetworkPolicies(found) }
}

const nameOf = ({ metadata }: Manifest) => metadata.name.replace('trainyard-', '')

/** Which pods and namespaces may open connections to which port. */
async function listOpenPorts(values: object, ...options: string[]): Promise<Record<string, string[]>> {
  const { pods, policies } = await readPods(values, ...options)
  const ports = Object.entries(pods).flatMap(([name, pod]) =>
    Object.keys(pod.ports).map((port) => ({ name, pod, port })),
  )
  return Object.fromEntries(
    ports.map(({ name, pod, port }) => {
      const inside = Object.keys(pods).filter((other) => policies.mayConnect(pods[other]!, pod, port))
      return [`${name} ${port}`, [...inside, ...policies.listOutsiders(pod, port)]]
    }),
  )
}

const made = Object.keys(madePods)
const control = ['apiserver', 'operator']

test('the API server accepts the policies', async () => {
  const manifests = parseManifests(await render({ artifacts: { s3: { bucket: 'models' } } }))
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
  const parts = ['apiserver', 'engines', 'hub', 'operator', 'status-server', 'test', 'trainers', 'uninstall']
  expect(new Set(policies.map(nameOf))).toEqual(new Set(parts))
  // A list is created or rejected as a whole.
  const items = policies.map(({ metadata, ...policy }) => ({
    ...policy,
    metadata: { ...metadata, namespace: 'default' },
  }))
  await stack.apply({ apiVersion: 'v1', kind: 'List', items }, '--dry-run=server')
})

test('by default, ports are closed for those who do not need them, but those of metrics', async () => {
  const plugin = ['--api-versions', 'cilium.io/v2']
  const byDefault = { networkPolicies: {}, metrics: {} }
  const open = await listOpenPorts(byDefault, ...plugin)
  expect(open).toMatchObject({
    'operator http': [],
    'status-server http': made,
    'engine http': control,
    'colocated engine http': control,
  })
  const metrics = Object.keys(open).filter((port) => port.endsWith('metrics'))
  expect(metrics.filter((port) => !open[port]!.includes('*'))).toEqual([])
  const named = await listOpenPorts({ ...byDefault, metrics: { from: ['monitoring'] } }, ...plugin)
  expect(named['operator metrics']).toEqual(['monitoring'])
})

test('no port is open but those that somebody uses', async () => {
  const engine = { http: control, metrics: ['operator', 'monitoring'] }
  expect(await listOpenPorts({})).toEqual({
    'apiserver http': ['test', '*'],
    'apiserver metrics': ['monitoring'],
    'operator http': [],
    'operator metrics': ['monitoring'],
    'status-server http': made,
    'status-server metrics': ['monitoring'],
    'engine http': engine.http,
    'engine metrics': engine.metrics,
    'trainer metrics': ['monitoring'],
    'colocated engine http': engine.http,
    'colocated engine metrics': engine.metrics,
    'colocated engine trainer-metrics': ['monitoring'],
    'engine of a hub http': engine.http,
    'engine of a hub metrics': engine.metrics,
    'trainer of a hub metrics': ['monitoring'],
  })
})

test('the Postgres of a trial answers control parts only', async () => {
  const open = await listOpenPorts({ trial: true, secrets: { databaseUrl: '' } })
  expect(open['postgres postgres']?.toSorted()).toEqual(['apiserver', 'operator', 'status-server', 'test'])
})

test('every pod needs a rule for each of its connections', async () => {
  const { pods, policies } = await readPods({ trial: true, secrets: { databaseUrl: '' } })
  expect(Object.keys(pods).filter((name) => !policies.isIsolated(pods[name]!))).toEqual([])
})

test('clients of the apiserver may be bounded, and so may those who read metrics', async () => {
  const clients = [
    {
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['ingress'] }],
      },
    },
  ]
  const open = await listOpenPorts({ networkPolicies: { enabled: true, clients }, metrics: { from: [] } })
  expect(open['apiserver http']).toEqual(['test', 'ingress'])
  const metrics = Object.keys(open).filter((port) => port.endsWith('metrics') && !port.includes('engine'))
  expect(metrics.flatMap((port) => open[port]!)).toEqual([])
})

const dns = { cidr: '169.254.20.10/32', except: [], ports: [53, 53] }
const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16']
const publicNetworks = (ports: unknown[]) => [
  { cidr: '0.0.0.0/0', except: expect.arrayContaining(privateNetworks), ports },
  { cidr: '::/0', except: expect.arrayContaining(['fc00::/7', 'fe80::/10']), ports },
]

test.each<[string, object, unknown[]]>([
  ['engine', {}, [dns]],
  ['trainer', {}, [dns]],
  ['trainer', { artifacts: { s3: { bucket: 'models' } } }, [dns, ...publicNetworks([443])]],
  [
    'trainer',
    {
      artifacts: { s3: { bucket: 'models', endpoint: 'http://minio:9000' } },
      networkPolicies: {
        enabled: true,
        store: [{ to: [{ ipBlock: { cidr: '10.0.0.8/32' } }], ports: [{ port: 9000 }] }],
      },
    },
    [dns, { cidr: '10.0.0.8/32', except: [], ports: [9000] }],
  ],
  ['engine of a hub', {}, [dns, ...publicNetworks([443])]],
  ['trainer of a hub', {}, [dns, ...publicNetworks([443])]],
  ['status-server', {}, [dns]],
  ['operator', {}, [dns, ...publicNetworks([])]],
  ['apiserver', { outbound: { webhookHosts: [], dataHosts: [] } }, [dns]],
  [
    'operator',
    { outbound: { privateNetworks: ['10.1.0.0/16'] } },
    [dns, ...publicNetworks([]), { cidr: '10.1.0.0/16', except: [], ports: [] }],
  ],
])('the %s with %j may connect only to what it needs', async (name, values, blocks) => {
  const { pods, policies } = await readPods(values)
  expect(policies.listBlocks(pods[name]!)).toEqual(blocks)
})

test('a bucket of another service needs rules that lead to it', async () => {
  const artifacts = { s3: { bucket: 'models', endpoint: 'http://minio:9000' } }
  await expect(render({ artifacts })).rejects.toThrow('networkPolicies.store: the bucket')
})
