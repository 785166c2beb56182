import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serverMetrics } from '../../lib/metrics/table.ts'
import { createHelm, parseManifests, type Manifest } from '../support/helm.ts'
import { useStack } from '../support/stack.ts'
import { removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const helm = createHelm(stack)
const suffix = randomUUID().slice(0, 8)
const namespace = `control-pods-${suffix}`
// A RuntimeClass and a PriorityClass have no namespace.
const className = `control-${suffix}`

beforeAll(async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await stack.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
  const metadata = { name: className }
  await stack.apply({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata, handler: 'sandbox' })
  await stack.apply({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value: 7 })
  for (const account of (await render({})).filter(({ kind }) => kind === 'ServiceAccount')) await stack.apply(account)
})
afterAll(async () => {
  await removeNamespace(stack, namespace)
  await stack.kubectl('delete', `runtimeclass/${className}`, `priorityclass/${className}`)
})

const render = async (values: object) => parseManifests(await helm.render(namespace, values))

interface PodTemplate {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> }
  spec: Record<string, unknown> & { containers: Container[] }
}

interface Container {
  name: string
  env: { name: string; value?: string; valueFrom?: object }[]
}

const names = ['apiserver', 'operator', 'status-server', 'uninstall']

/** The pods of all Deployments and Jobs, by the part's name. */
async function renderPods(values: object): Promise<Map<string, PodTemplate>> {
  const owners = (await render(values)).filter(({ kind }) => ['Deployment', 'Job'].includes(kind))
  return new Map(owners.map((owner) => [nameOf(owner), (owner['spec'] as { template: PodTemplate }).template]))
}

const nameOf = ({ metadata }: Manifest) => metadata.name.replace('trainyard-', '')

/** Asks the API server to create the pod, without keeping it. @throws if an admission rejects it */
const create = ({ metadata, spec }: PodTemplate) =>
  stack.apply(
    { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'pod', namespace }, spec },
    '--dry-run=server',
  )

const all = {
  nodeSelector: { pool: 'control' },
  tolerations: [{ key: 'control', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  priorityClassName: className,
  runtimeClassName: className,
}
const secretEnv = { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url' } } }
const controlPods = {
  ...all,
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
  annotations: { 'example.com/team': 'nlp', 'trainyard.dev/secrets-checksum': 'none' },
  labels: { team: 'nlp', 'app.kubernetes.io/name': 'other' },
  env: [secretEnv],
}

describe('a namespace that enforces the Pod Security Standard restricted takes the pod of', () => {
  test.each(names)('%s', async (name) => {
    for (const values of [{}, { controlPods, artifacts: { s3: { bucket: 'models' } } }]) {
      const pods = await renderPods(values)
      expect([...pods.keys()].toSorted()).toEqual(names)
      expect(await create(pods.get(name)!)).toContain('pod/pod')
    }
  })

  test('no part that may become root', async () => {
    const pods = await renderPods({ podSecurityContext: { runAsNonRoot: false } })
    await expect(create(pods.get('operator')!)).rejects.toThrow('violates PodSecurity "restricted:latest"')
  })
})

test('pods have a read-only root, and may write to the folder of artifacts only', async () => {
  for (const [values, folders] of [
    [{}, ['/artifacts']],
    [{ artifacts: { s3: { bucket: 'models' } } }, ['/spool']],
  ] as const) {
    for (const [name, { spec }] of await renderPods(values)) {
      const [container] = spec.containers as unknown as [
        { securityContext: object; volumeMounts?: { mountPath: string; readOnly?: boolean }[] },
      ]
      expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true })
      const writable = (container.volumeMounts ?? []).filter(({ readOnly }) => readOnly !== true)
      const expected = ['apiserver', 'operator'].includes(name) ? folders : []
      expect(writable.map(({ mountPath }) => mountPath)).toEqual(expected)
    }
  }
})

test('settings of controlPods are on the pods of every part, and ours stay', async () => {
  for (const [name, { metadata, spec }] of await renderPods({ controlPods })) {
    expect(spec).toMatchObject(all)
    expect(spec.containers[0]!.env).toContainEqual(secretEnv)
    expect(metadata.labels).toMatchObject({ team: 'nlp', 'app.kubernetes.io/name': 'trainyard' })
    expect(metadata.annotations['example.com/team']).toBe('nlp')
    expect(metadata.annotations['trainyard.dev/secrets-checksum']).not.toBe('none')
    const labelSelector = { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': name }) }
    expect(spec['topologySpreadConstraints']).toEqual([
      { ...controlPods.topologySpreadConstraints[0], labelSelector, matchLabelKeys: ['pod-template-hash'] },
    ])
  }
})

test('a part has its own settings over them: maps are merged, and lists are used instead', async () => {
  const labelSelector = { matchLabels: { team: 'nlp' } }
  const spread = { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway', labelSelector }
  const pods = {
    nodeSelector: { disk: 'fast' },
    tolerations: [],
    topologySpreadConstraints: [spread],
    env: [{ name: 'A', value: 'b' }],
  }
  const rendered = await renderPods({ controlPods, apiserver: { pods } })
  const { spec } = rendered.get('apiserver')!
  expect(spec).toMatchObject({ nodeSelector: { pool: 'control', disk: 'fast' }, topologySpreadConstraints: [spread] })
  expect(spec['tolerations']).toBeUndefined()
  expect(spec.containers[0]!.env).toContainEqual({ name: 'A', value: 'b' })
  expect(spec.containers[0]!.env).not.toContainEqual(secretEnv)
  expect(rendered.get('operator')!.spec).toMatchObject(all)
})

test('variables that the chart sets are rejected, and every variable that it sets is one of them', async () => {
  const { definitions } = JSON.parse(
    readFileSync(new URL('../../helm/trainyard/values.schema.json', import.meta.url), 'utf8'),
  ) as { definitions: { pods: { properties: { env: { items: { properties: { name: Rule } } } } } } }
  const { pattern } = definitions.pods.properties.env.items.properties.name.not
  const values = {
    artifacts: { s3: { bucket: 'models' } },
    defaults: { allow: ['a/*'] },
    tracing: { retentionDays: 9 },
  }
  const set = [...(await renderPods(values)).values()].flatMap(({ spec }) => spec.containers[0]!.env)
  expect(set.map(({ name }) => name).filter((name) => !new RegExp(pattern).test(name))).toEqual([])
  const env = [{ name: 'DATABASE_URL', value: 'postgres://elsewhere' }]
  await expect(render({ controlPods: { env } })).rejects.toThrow("at '/controlPods/env/0/name'")
})

interface Rule {
  not: { pattern: string }
}

test('pods are spread over zones and nodes by default', async () => {
  const { spec } = (await renderPods({})).get('status-server')!
  const keys = (spec['topologySpreadConstraints'] as { topologyKey: string }[]).map(({ topologyKey }) => topologyKey)
  expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname'])
})

test('no old pod ends before a new one is ready, and a drain may end one pod of each part', async () => {
  const manifests = await render({})
  const ofKind = (wanted: string) => manifests.filter(({ kind }) => kind === wanted)
  const deployments = ofKind('Deployment')
  const budgets = new Map(ofKind('PodDisruptionBudget').map((budget) => [budget.metadata.name, budget['spec']]))
  expect(budgets.size).toBe(deployments.length)
  for (const { metadata, spec } of deployments) {
    const { strategy, selector } = spec as { strategy: object; selector: object }
    expect(strategy).toEqual({ rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } })
    expect(budgets.get(metadata.name)).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector,
    })
  }
})

test('the kubelet asks each part whether it lives, and whether it can work', async () => {
  const probes = [...(await renderPods({}))].flatMap(([name, { spec }]) => {
    const [container] = spec.containers as unknown as Record<string, { httpGet: { path: string } }>[]
    const { livenessProbe, readinessProbe } = container!
    return livenessProbe ? [[name, [livenessProbe.httpGet.path, readinessProbe!.httpGet.path]] as const] : []
  })
  expect(Object.fromEntries(probes)).toEqual({
    apiserver: ['/v1/health', '/v1/ready'],
    operator: ['/health', '/ready'],
    'status-server': ['/health', '/ready'],
  })
})

test('a status server that ends takes requests until its clients have learned of it', async () => {
  const { spec } = (await renderPods({ statusServer: { preStopSeconds: 7 } })).get('status-server')!
  expect(spec['terminationGracePeriodSeconds']).toBe(22)
  expect(spec.containers[0]).toMatchObject({ lifecycle: { preStop: { sleep: { seconds: 7 } } } })
})

describe('the autoscaler of apiservers', () => {
  const find = async (autoscaling: object) => {
    const manifests = await render({ apiserver: { replicas: 3, autoscaling } })
    const apiserver = manifests.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('apiserver'),
    )
    const scaler = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler')
    return { replicas: (apiserver!['spec'] as { replicas?: number }).replicas, scaler }
  }

  test('is off by default', async () => {
    const { replicas, scaler } = await find({})
    expect({ replicas, scaler }).toEqual({ replicas: 3, scaler: undefined })
  })

  test('sets the replicas by the requests in flight, which the API server accepts', async () => {
    const { replicas, scaler } = await find({ enabled: true, requestsInFlight: 50 })
    expect(replicas).toBeUndefined()
    expect(scaler!['spec']).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'trainyard-apiserver' },
      metrics: [
        {
          pods: {
            metric: { name: serverMetrics.gauges.inFlight.name },
            target: { type: 'AverageValue', averageValue: '50' },
          },
        },
      ],
    })
    await stack.apply(scaler!, '--dry-run=server')
  })

  test('has bounds in order', async () => {
    await expect(find({ enabled: true, minReplicas: 5, maxReplicas: 4 })).rejects.toThrow('minReplicas is larger')
  })
})
