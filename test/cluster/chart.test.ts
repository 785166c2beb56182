import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findUnsupported, listPretended } from '../../local/node-agent/pod/supported-fields.ts'
import type { Pod } from '../../local/node-agent/objects.ts'
import { eventually } from '../support/eventually.ts'
import { readDefaults } from '../../apiserver/training/base-models/defaults.ts'
import { createHelm, parseManifests, type Manifest } from '../support/helm.ts'
import { planValues } from '../../operator/base-model-values/plan.ts'
import type { KubeObject } from '../../lib/kube/apply.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const helm = createHelm(stack)
const examples = path.join(import.meta.dirname, '..', '..', 'examples')
const namespace = `chart-${randomUUID().slice(0, 8)}`
const databaseUrl = 'postgres://trainyard@postgres.example:5432/trainyard'

const defaultValues = {}
const secretNames = { secretName: 'whole-bucket', engineSecretName: 'for-engines', trainerSecretName: 'for-trainers' }

/** Without the database and the store that other installations have to name. */
const nothingElse = { secrets: { databaseUrl: '' }, artifacts: { persistentVolumeClaim: { accessMode: '' } } }

beforeAll(() => createNamespace(stack, namespace))
afterAll(() => removeNamespace(stack, namespace))

describe('the API server accepts the chart', () => {
  test.each<[string, object]>([
    ['with its defaults', defaultValues],
    [
      'on one machine',
      { artifacts: { hostPath: { path: '/srv/artifacts' } }, listenOnPodIP: true, secrets: { databaseUrl } },
    ],
    [
      'with a bucket',
      { artifacts: { s3: { bucket: 'models', prefix: 'a/b', endpoint: 'https://s3', ...secretNames } } },
    ],
    [
      'with a separate database for traces, retention for 90 days, and prices',
      {
        secrets: { databaseUrl, tracingDatabaseUrl: databaseUrl },
        tracing: { retentionDays: 90, pricesConfigMap: 'prices' },
      },
    ],
    [
      'with base models on request',
      { defaults: { allow: ['Qwen/*'], maximum: 2, baseModel: { engine: { replicas: 0 } } } },
    ],
    [
      'with a claim and a Secret of the user',
      {
        artifacts: { persistentVolumeClaim: { create: false, existing: 'shared' } },
        secrets: { create: false },
        images: { control: { tag: 'main' }, pullSecrets: [{ name: 'registry' }] },
      },
    ],
    ['as a trial', { trial: true, ...nothingElse }],
    ['with an autoscaler', { apiserver: { autoscaling: { enabled: true } } }],
    ['with a dashboard', { metrics: { dashboard: { enabled: true, labels: { grafana_dashboard: 'yes' } } } }],
    [
      'without limits and security contexts',
      {
        podSecurityContext: null,
        containerSecurityContext: null,
        apiserver: { resources: null, service: { type: 'LoadBalancer' } },
      },
    ],
    [
      'with all settings of a base model',
      {
        baseModels: {
          'tiny-chat': null,
          qwen: {
            names: ['Qwen/Qwen3-0.6B', 'qwen'],
            source: {
              hub: { id: 'Qwen/Qwen3-0.6B', revision: 'main' },
              secretRef: { name: 'hub' },
              trustRemoteCode: true,
            },
            imagePullSecrets: [{ name: 'registry' }],
            scheduling: { nodeSelector: { gpu: 'yes' }, tolerations: [{ operator: 'Exists' }] },
            cache: { persistentVolumeClaim: { claimName: 'models' } },
            default: true,
            engine: {
              replicas: 2,
              args: ['--dtype=bfloat16'],
              env: [{ name: 'A', value: 'b' }],
              maxLoras: 8,
              toolCallParser: 'hermes',
              reasoningParser: 'none',
            },
            trainer: {
              warm: { min: 2 },
              serviceAccountName: 'gpu',
              maxSequenceLength: 4096,
              gpus: 2,
              maxJobs: 8,
              coBatch: 'SameEntity',
              saveSeconds: 30,
              maxBatchTokens: 8192,
            },
            lora: { rank: 8, alpha: 16, targetModules: ['q_proj'] },
          },
        },
      },
    ],
  ])('%s', async (_name, values) =>
    // The definitions are the same for all values, and the server takes long to check them.
    expectAccepted(await helm.render(namespace, { crds: { enabled: values === defaultValues }, ...values })),
  )
})

describe('the API server accepts the chart with the values of the examples', () => {
  test.each(readdirSync(path.join(examples, 'clusters')))('%s', async (name) => {
    await expectAccepted(await helm.renderFile(namespace, path.join(examples, 'clusters', name)))
  })

  test('of GitOps, and two renderings are equal', async () => {
    const render = () => helm.renderFile(namespace, path.join(examples, 'gitops', 'values.yaml'))
    const manifests = await render()
    await expectAccepted(manifests)
    expect(await render()).toBe(manifests)
  })

  test('of GitOps, and its models', async () => {
    const models = readFileSync(path.join(examples, 'gitops', 'models.yaml'), 'utf8')
    expect(await helm.dryRun(models.replace('namespace: trainyard', `namespace: ${namespace}`))).toContain(
      'applied (server dry run)',
    )
  })
})

/** The server must accept each object, and each base model that the operator makes from the values. */
async function expectAccepted(manifests: string): Promise<void> {
  const objects = parseManifests(manifests)
  const all = [...objects, ...listBaseModels(objects)]
  expect(listLines(await helm.dryRun(all.map((object) => JSON.stringify(object)).join('\n---\n')))).toHaveLength(
    all.length,
  )
}

const listLines = (text: string) => text.trim().split('\n')

/** The BaseModels that the operator makes from the values. */
function listBaseModels(manifests: Manifest[]): KubeObject[] {
  const { metadata, data } = manifests.find(({ metadata: { name } }) => name === 'trainyard-base-models')!
  return planValues({ metadata: { ...metadata, uid: 'of-a-rendering' }, data: data as Record<string, string> }, [])
    .apply
}

describe('invalid values are rejected with their location', () => {
  test.each<[string, object, string]>([
    ['an unknown name', { apiServer: {} }, "additional properties 'apiServer' not allowed"],
    ['a negative count', { apiserver: { replicas: -1 } }, "at '/apiserver/replicas': minimum: got -1, want 0"],
    ['a text for a number', { operator: { replicas: 'two' } }, "at '/operator/replicas': got string, want integer"],
    ['another database', { secrets: { databaseUrl: 'mysql://a' } }, "at '/secrets/databaseUrl'"],
    ['a short engine key', { secrets: { engineKey: 'short' } }, "at '/secrets/engineKey'"],
    ['a relative folder', { artifacts: { hostPath: { path: 'artifacts' } } }, "at '/artifacts/hostPath/path'"],
    [
      'a claim that is neither made nor named',
      { artifacts: { persistentVolumeClaim: { create: false } } },
      "persistentVolumeClaim/existing'",
    ],
    [
      'no artifact store',
      { artifacts: { persistentVolumeClaim: { accessMode: '' } } },
      'There is no artifact store. Give a bucket with artifacts.s3.bucket, or',
    ],
    [
      'no database',
      { secrets: { databaseUrl: '' } },
      'There is no database. Give one with secrets.databaseUrl=postgres://USER:PASSWORD@HOST:5432/DATABASE',
    ],
    ['an invalid bucket name', { artifacts: { s3: { bucket: 'My_Bucket' } } }, "at '/artifacts/s3/bucket'"],
    [
      'the key of the whole bucket alone',
      { artifacts: { s3: { bucket: 'models', secretName: 'keys' } } },
      'Set artifacts.s3.engineSecretName to another Secret',
    ],
    [
      'the key of the whole bucket for trainers',
      { artifacts: { s3: { bucket: 'models', ...secretNames, trainerSecretName: secretNames.secretName } } },
      'Set artifacts.s3.trainerSecretName to another Secret',
    ],
    ['an endpoint without its scheme', { artifacts: { s3: { endpoint: 's3:9000' } } }, "at '/artifacts/s3/endpoint'"],
    ['a base model without names', { baseModels: { a: { source: { path: 'a' } } } }, "missing property 'names'"],
    [
      'a base model with two sources',
      { baseModels: { a: { names: ['a'], source: { path: 'a', hub: { id: 'a', revision: 'b' } } } } },
      "at '/baseModels/a/source'",
    ],
    [
      'an unknown field of a base model',
      { baseModels: { 'tiny-chat': { engine: { replica: 2 } } } },
      "at '/baseModels/tiny-chat/engine': additional properties 'replica' not allowed",
    ],
    [
      'a number that is too large for a base model',
      { baseModels: { 'tiny-chat': { lora: { rank: 4096 } } } },
      "at '/baseModels/tiny-chat/lora/rank': maximum: got 4,096, want 512",
    ],
    ['a pattern without an organisation', { defaults: { allow: ['*'] } }, "at '/defaults/allow/0'"],
    [
      'a source of base models on request',
      { defaults: { baseModel: { source: { path: 'a' } } } },
      "at '/defaults/baseModel'",
    ],
    ['a negative waiting time', { apiserver: { holdSeconds: -1 } }, "at '/apiserver/holdSeconds'"],
    [
      'an interval without a unit',
      { metrics: { podMonitor: { interval: '30' } } },
      "at '/metrics/podMonitor/interval'",
    ],
    ['no time to shut down', { apiserver: { drainSeconds: 0 } }, "at '/apiserver/drainSeconds'"],
    ['an incomplete digest', { images: { control: { digest: 'sha256:1' } } }, "at '/images/control/digest'"],
    [
      'an image without a registry',
      { images: { control: { repository: 'trainyard' } } },
      "at '/images/control/repository'",
    ],
    ['an unknown pull policy', { images: { pullPolicy: 'Sometimes' } }, "at '/images/pullPolicy'"],
    [
      'a port number that is too large',
      { apiserver: { service: { nodePort: 70_000 } } },
      "at '/apiserver/service/nodePort'",
    ],
  ])('%s', async (_name, values, sentence) => {
    await expect(helm.render(namespace, values)).rejects.toThrow(sentence)
  })
})

test('the parts have rights only in their own namespace, without exec, secrets or wildcards', async () => {
  const manifests = parseManifests(await helm.render(namespace, {}))
  expect(manifests.filter((manifest) => manifest.kind.startsWith('ClusterRole'))).toEqual([])
  const outside = manifests.filter((manifest) => manifest.metadata.namespace !== namespace)
  expect(outside.map(({ kind }) => kind)).toEqual(Array(3).fill('CustomResourceDefinition'))
  const rules = manifests.filter((manifest) => manifest.kind === 'Role').flatMap((role) => role.rules as Rule[])
  const granted = rules.flatMap((rule) => [...rule.resources, ...rule.verbs])
  expect(rules.length).toBeGreaterThan(0)
  for (const word of ['*', 'secrets', 'pods/exec', 'escalate', 'bind']) expect(granted).not.toContain(word)
})

test.each<[string, object]>([
  ['a folder', { hostPath: { path: '/srv/artifacts' } }],
  ['a bucket', { s3: { bucket: 'models', endpoint: 'http://127.0.0.1:9000', ...secretNames } }],
])('with artifacts in %s, pods ask for nothing that the node of one machine does not honour', async (_, artifacts) => {
  const manifests = parseManifests(await helm.render(namespace, { artifacts }))
  const deployments = manifests.filter((manifest) => manifest.kind === 'Deployment')
  const pods = deployments.map((deployment) => (deployment.spec as { template: Pod }).template)
  expect(pods.map((pod) => findUnsupported(pod))).toEqual([undefined, undefined, undefined])
})

test('the fields that the node of one machine ignores are known: nothing that runs there proves them', async () => {
  const manifests = parseManifests(await helm.render(namespace, {}))
  const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
  const pods = workloads.map((workload) => (workload.spec as { template: Pod }).template)
  expect([...new Set(pods.flatMap((pod) => listPretended(pod)))].toSorted()).toEqual([
    'spec.containers.imagePullPolicy',
    'spec.containers.resources',
    'spec.containers.securityContext.capabilities.drop',
    'spec.containers.securityContext.readOnlyRootFilesystem',
    'spec.containers.volumeMounts.readOnly',
    'spec.securityContext.fsGroup',
    'spec.securityContext.fsGroupChangePolicy',
    'spec.securityContext.runAsGroup',
    'spec.securityContext.runAsNonRoot',
    'spec.securityContext.runAsUser',
    'spec.securityContext.seccompProfile',
    'spec.topologySpreadConstraints',
  ])
})

interface Rule {
  resources: string[]
  verbs: string[]
}

test('an upgrade keeps the engine key and the databases of the installation', async () => {
  const quiet = { replicas: 0 }
  const secrets = { databaseUrl: '' }
  const values = {
    crds: { enabled: false },
    secrets,
    apiserver: quiet,
    operator: quiet,
    statusServer: quiet,
    baseModels: { 'tiny-chat': null },
  }
  await helm.upgrade(namespace, { ...values, secrets: { databaseUrl, tracingDatabaseUrl: `${databaseUrl}-traces` } })
  const installed = await readSecret()
  const checksums = await readChecksums()
  expect(new Set(checksums).size).toBe(1)
  expect(installed.engineKey).toMatch(/^[A-Za-z0-9]{48}$/)
  expect(installed.webhookKey).toMatch(/^[A-Za-z0-9]{48}$/)
  expect(installed.webhookKey).not.toBe(installed.engineKey)
  expect(installed.databaseUrl).toBe(databaseUrl)
  expect(installed.tracingDatabaseUrl).toBe(`${databaseUrl}-traces`)
  await helm.upgrade(namespace, { ...values, logLevel: 'debug' })
  expect(await readSecret()).toEqual(installed)
  expect(await readChecksums()).toEqual(checksums)
  // The tracing database can be removed again.
  const shared = { ...installed, tracingDatabaseUrl: '' }
  await helm.upgrade(namespace, { ...values, secrets: { ...secrets, tracingDatabaseUrl: 'same' } })
  expect(await readSecret()).toEqual(shared)
  const changed = await readChecksums()
  for (const checksum of changed) expect(checksums).not.toContain(checksum)
  await helm.upgrade(namespace, values)
  expect(await readSecret()).toEqual(shared)
})

test('an upgrade with another key keeps the previous one, for engines that still run and for stored secrets', async () => {
  const quiet = { replicas: 0 }
  const values = {
    crds: { enabled: false },
    apiserver: quiet,
    operator: quiet,
    statusServer: quiet,
    baseModels: { 'tiny-chat': null },
  }
  const upgrade = async (secrets: object) => {
    await helm.upgrade(namespace, { ...values, secrets })
    return readSecret()
  }
  const { engineKey: first } = await readSecret()
  const [second, third] = ['second'.repeat(8), 'third'.repeat(8)]
  expect(await upgrade({ engineKey: second })).toMatchObject({ engineKey: second, previousEngineKey: first })
  expect(await upgrade({})).toMatchObject({ engineKey: second, previousEngineKey: first })
  expect(await upgrade({ engineKey: third })).toMatchObject({ engineKey: third, previousEngineKey: second })
  expect(await upgrade({ previousEngineKey: 'none' })).toMatchObject({ engineKey: third, previousEngineKey: '' })

  const { webhookKey } = await readSecret()
  const changed = { webhookKey: second, previousWebhookKey: webhookKey }
  expect(await upgrade({ webhookKey: second })).toMatchObject(changed)
  expect(await upgrade({})).toMatchObject(changed)
  expect(await upgrade({ previousWebhookKey: 'none' })).toMatchObject({ webhookKey: second, previousWebhookKey: '' })
})

test('rendered without a cluster, the key of webhooks follows from the engine key, and changes with it', async () => {
  const render = async (secrets: object) => {
    const manifests = parseManifests(await helm.render(`${namespace}-new`, { secrets: { databaseUrl, ...secrets } }))
    const { data } = manifests.find(({ kind }) => kind === 'Secret') as unknown as { data: Record<string, string> }
    return [data['webhook-key'], data['previous-webhook-key']]
  }
  const [one, two] = ['one'.repeat(16), 'two'.repeat(16)]
  const [first] = await render({ engineKey: one })
  expect(await render({ engineKey: one })).toEqual([first, undefined])
  const [second, previous] = await render({ engineKey: two, previousEngineKey: one })
  expect(previous).toBe(first)
  expect(second).not.toBe(first)
  const given = await render({ engineKey: two, webhookKey: one, previousWebhookKey: two })
  expect(given).toEqual([one, two].map((key) => Buffer.from(key).toString('base64')))
})

test('a password cannot be guessed from the checksum on the pods, which includes the random engine key', async () => {
  const render = async (engineKey: string) => {
    const manifests = parseManifests(await helm.render(`${namespace}-new`, { secrets: { databaseUrl, engineKey } }))
    return manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => checksumOf((spec as Deployment).template))
  }
  const [one, other, given, again] = [
    await render(''),
    await render(''),
    await render('k'.repeat(48)),
    await render('k'.repeat(48)),
  ]
  expect(new Set(one).size).toBe(1)
  expect(one).not.toEqual(other)
  expect(given).toEqual(again)
  for (const checksum of [...one, ...given]) expect(checksum).toMatch(/^[0-9a-f]{16}$/)
})

interface Deployment {
  template: { metadata: { annotations: Record<string, string> } }
}

const checksumOf = ({ metadata }: Deployment['template']) => metadata.annotations['trainyard.dev/secrets-checksum']!

async function readChecksums(): Promise<string[]> {
  const { items } = JSON.parse(await stack.kubectl('get', 'deployments', `-n${namespace}`, '-ojson')) as {
    items: { spec: Deployment }[]
  }
  return items.map(({ spec }) => checksumOf(spec.template))
}

async function readSecret() {
  const secret = JSON.parse(await stack.kubectl('get', 'secret', 'trainyard-secrets', `-n${namespace}`, '-ojson')) as {
    data: Record<string, string>
  }
  const decode = (key: string) => Buffer.from(secret.data[key] ?? '', 'base64').toString()
  return {
    webhookKey: decode('webhook-key'),
    previousWebhookKey: decode('previous-webhook-key'),
    engineKey: decode('engine-key'),
    previousEngineKey: decode('previous-engine-key'),
    databaseUrl: decode('database-url'),
    tracingDatabaseUrl: decode('tracing-database-url'),
  }
}

test('only with patterns of names may the apiserver make base models, and it reads what the chart tells it', async () => {
  const render = async (defaults: object) => parseManifests(await helm.render(namespace, { defaults }))
  const findRule = (manifests: Manifest[]) =>
    (
      manifests.find(({ kind, metadata }) => kind === 'Role' && metadata.name === 'trainyard-apiserver') as ApiRole
    ).rules
      .filter(({ resources }) => resources.includes('basemodels'))
      .map(({ verbs }) => verbs)
  expect(findRule(await render({}))).toEqual([])
  const manifests = await render({ allow: ['Qwen/*'], baseModel: { lora: { rank: 4 } } })
  expect(findRule(manifests)).toEqual([['create', 'list']])
  const { containers } = (
    manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'trainyard-apiserver') as ApiPods
  ).spec.template.spec
  const setting = containers[0]!.env.find(({ name }) => name === 'TRAINYARD_BASE_MODEL_DEFAULTS')?.value
  const reported = { allow: ['Qwen/*'], maximum: 3, maximumPerEntity: 2, baseModel: { lora: { rank: 4 } } }
  expect(readDefaults(setting)).toEqual(reported)
})

interface ApiRole extends Manifest {
  rules: { resources: string[]; verbs: string[] }[]
}

interface ApiPods extends Manifest {
  spec: { template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } }
}

test.each<[string, string, string, string]>([
  ['yes', 'apiserver', 'create', 'trainingjobs.trainyard.dev'],
  ['yes', 'apiserver', 'list', 'pods'],
  ['yes', 'apiserver', 'watch', 'pods'],
  ['yes', 'operator', 'create', 'pods'],
  ['yes', 'operator', 'patch', 'trainingjobs.trainyard.dev/status'],
  ['yes', 'operator', 'create', 'leases.coordination.k8s.io'],
  // Its own Lease only.
  ['no', 'operator', 'update', 'leases.coordination.k8s.io'],
  ['no', 'apiserver', 'delete', 'trainingjobs.trainyard.dev'],
  ['no', 'apiserver', 'create', 'basemodels.trainyard.dev'],
  ['no', 'apiserver', 'get', 'secrets'],
  ['yes', 'operator', 'create', 'services'],
  ['yes', 'operator', 'delete', 'poddisruptionbudgets.policy'],
  ['no', 'operator', 'delete', 'services'],
  ['no', 'operator', 'get', 'secrets'],
  ['no', 'operator', 'create', 'pods/exec'],
  ['no', 'operator', 'update', 'basemodels.trainyard.dev'],
  ['no', 'status-server', 'list', 'pods'],
  ['no', 'trainer', 'list', 'pods'],
])('it is %s that the %s may %s %s', async (expected, part, verb, resource) => {
  const account = `system:serviceaccount:${namespace}:trainyard-${part}`
  const [plural = '', subresource = ''] = resource.split('/')
  const options = [`--subresource=${subresource}`, `--namespace=${namespace}`, `--as=${account}`]
  // kubectl exits with 1 for the answer "no".
  const ask = () => stack.kubectl('auth', 'can-i', verb, plural, ...options)
  await eventually(async () =>
    expect(await ask().catch((error: { stdout: string }) => error.stdout)).toBe(`${expected}\n`),
  )
})

test.each([
  ['with its defaults', {}, { grace: 320, preStop: 5, hold: ['600', '1000', '300'] }],
  [
    'with other times',
    { holdSeconds: 5, holdRequests: 7, drainSeconds: 9, preStopSeconds: 0 },
    { grace: 24, preStop: undefined, hold: ['5', '7', '9'] },
  ],
])('the pod of the apiserver has time to drain: %s', async (_, apiserver, expected) => {
  const manifests = parseManifests(await helm.render(namespace, { apiserver }))
  const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'trainyard-apiserver')
  const { spec } = (found!.spec as { template: { spec: DrainedPod } }).template
  const [container] = spec.containers
  const names = ['TRAINYARD_HOLD_SECONDS', 'TRAINYARD_HOLD_REQUESTS', 'TRAINYARD_DRAIN_SECONDS']
  expect({
    grace: spec.terminationGracePeriodSeconds,
    preStop: container!.lifecycle?.preStop.sleep.seconds,
    hold: names.map((name) => container!.env.find((variable) => variable.name === name)?.value),
  }).toEqual(expected)
})

test.each<[string, object, string[]]>([
  ['its default limit', {}, ['--max-old-space-size=384']],
  ['2Gi', { resources: { limits: { memory: '2Gi' } } }, ['--max-old-space-size=1536']],
  ['a limit without a unit', { resources: { limits: { memory: 536_870_912 } } }, []],
  ['no limit', { resources: { limits: null } }, []],
  ['no resources', { resources: null }, []],
])('old objects of the operator may take three quarters of its memory: %s', async (_, operator, expected) => {
  const manifests = parseManifests(await helm.render(namespace, { operator }))
  const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'trainyard-operator')
  const [container] = (found!.spec as { template: { spec: ResourcefulPod } }).template.spec.containers
  expect(container!.command).toEqual(['node', '--max-semi-space-size=8', ...expected, 'operator/main.ts'])
})

test.each([
  ['all', {}, 'training,inference,tracing,console'],
  ['some', { groups: ['inference', 'tracing'] }, 'inference,tracing'],
])('the apiserver gets its groups: %s', async (_, apiserver, expected) => {
  const manifests = await helm.render(namespace, { apiserver })
  expect(/name: TRAINYARD_GROUPS\s+value: "([^"]*)"/.exec(manifests)?.[1]).toBe(expected)
})

describe('metrics', () => {
  const list = async (kind: string, values: object = {}) =>
    parseManifests(await helm.render(namespace, values)).filter((manifest) => manifest.kind === kind)

  test('have a port in every control part, and no Service leads to it', async () => {
    const pods = (await list('Deployment')).map(
      ({ spec }) => (spec as { template: { spec: PodWithPorts } }).template.spec,
    )
    const ports = pods.map(({ containers }) => containers[0]!.ports.find(({ name }) => name === 'metrics'))
    expect(ports).toEqual(ports.map(() => ({ name: 'metrics', containerPort: 8083 })))
    const services = (await list('Service')).flatMap(({ spec }) => (spec as { ports: { targetPort: unknown }[] }).ports)
    expect(services.map(({ targetPort }) => targetPort)).toEqual(['http', 'http'])
  })

  test('are read by PodMonitors where they are wanted, those of engines and trainers too', async () => {
    expect(await list('PodMonitor')).toEqual([])
    const labels = { release: 'prometheus' }
    const found = await list('PodMonitor', { metrics: { podMonitor: { enabled: true, interval: '10s', labels } } })
    expect(found.map(({ metadata }) => metadata.name)).toEqual([
      'trainyard-control',
      'trainyard-engines',
      'trainyard-trainers',
    ])
    // The trainer of a colocated pod has a port of its own.
    const ports = [['metrics'], ['metrics', 'trainer-metrics'], ['metrics']]
    for (const [index, { metadata, spec }] of found.entries()) {
      expect(metadata).toMatchObject({ labels })
      const podMetricsEndpoints = ports[index]!.map((port) => ({ port, interval: '10s' }))
      expect(spec).toMatchObject({ podMetricsEndpoints })
    }
    for (const [index, component] of ['engine', 'trainer'].entries()) {
      const selector = { matchLabels: { 'trainyard.dev/component': component } }
      expect(found[index + 1]!.spec).toMatchObject({ selector })
    }
  })

  test('have a dashboard, which is the file of the chart', async () => {
    expect((await list('ConfigMap')).map(({ metadata }) => metadata.name)).not.toContain('trainyard-dashboard')
    const found = await list('ConfigMap', { metrics: { dashboard: { enabled: true } } })
    const dashboard = found.find(({ metadata }) => metadata.name === 'trainyard-dashboard')
    expect(dashboard?.metadata).toMatchObject({ labels: { grafana_dashboard: '1' } })
    const [text] = Object.values(dashboard?.['data'] as Record<string, string>)
    expect(JSON.parse(text!)).toMatchObject({ title: 'Trainyard', uid: 'trainyard' })
  })
})

interface PodWithPorts {
  containers: { ports: { name: string; containerPort: number }[] }[]
}

interface ResourcefulPod {
  containers: { command: string[] }[]
}

interface DrainedPod {
  terminationGracePeriodSeconds: number
  containers: {
    env: { name: string; value?: string }[]
    lifecycle?: { preStop: { sleep: { seconds: number } } }
  }[]
}

test('the operator tells engines and trainers of their own keys to the bucket, and not of its own', async () => {
  const values = { artifacts: { s3: { bucket: 'models', ...secretNames } } }
  const manifests = parseManifests(await helm.render(namespace, values))
  const operator = manifests.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'trainyard-operator',
  )
  const [container] = (operator!.spec as { template: { spec: DrainedPod } }).template.spec.containers
  const env = Object.fromEntries(container!.env.map((variable) => [variable.name, variable.value]))
  expect(env).toMatchObject({ TRAINYARD_S3_ENGINE_SECRET: 'for-engines', TRAINYARD_S3_TRAINER_SECRET: 'for-trainers' })
  expect(Object.values(env)).not.toContain(secretNames.secretName)
})

test('the operator and the status server get what engines and trainers need', async () => {
  const manifests = parseManifests(
    await helm.render(namespace, {
      images: { pullSecrets: [{ name: 'a' }, { name: 'b' }] },
      statusServer: { accounts: { trainer: ['gpu'] } },
    }),
  )
  const envOf = (name: string) => {
    const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
    const [container] = (found!.spec as { template: { spec: DrainedPod } }).template.spec.containers
    return Object.fromEntries(container!.env.map((variable) => [variable.name, variable.value]))
  }
  expect(envOf('trainyard-operator')).toMatchObject({
    TRAINYARD_PULL_SECRETS: 'a,b',
    TRAINYARD_CACHE_VOLUME: '{"emptyDir":{}}',
    TRAINYARD_POD_SECURITY_CONTEXT: expect.stringContaining('"runAsNonRoot":true,"runAsUser":1000'),
  })
  expect(envOf('trainyard-status-server')).toMatchObject({
    TRAINYARD_ENGINE_ACCOUNTS: '',
    TRAINYARD_TRAINER_ACCOUNTS: 'gpu',
  })
})

describe('a trial', () => {
  const render = async (values: object) => parseManifests(await helm.render(namespace, { trial: true, ...values }))
  const find = (manifests: Manifest[], kind: string, name: string) =>
    manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === `trainyard-${name}`)
  const decode = (secret: Manifest | undefined, key: string) =>
    Buffer.from((secret!['data'] as Record<string, string>)[key]!, 'base64').toString()

  test('has a Postgres, whose password is in the address, and a claim for one node', async () => {
    const manifests = await render(nothingElse)
    const password = decode(find(manifests, 'Secret', 'postgres'), 'password')
    expect(password).toMatch(/^[A-Za-z0-9]{32}$/)
    const address = `postgres://trainyard:${password}@trainyard-postgres:5432/trainyard`
    expect(decode(find(manifests, 'Secret', 'secrets'), 'database-url')).toBe(address)
    // The group of the volume must not get the right to write the data directory again: Postgres would reject it.
    const securityContext = { fsGroup: 999, fsGroupChangePolicy: 'OnRootMismatch' }
    expect(find(manifests, 'StatefulSet', 'postgres')).toMatchObject({
      spec: { template: { spec: { securityContext } } },
    })
    expect(find(manifests, 'PersistentVolumeClaim', 'artifacts')?.spec).toMatchObject({
      accessModes: ['ReadWriteOnce'],
    })
  })

  test('uses what is given', async () => {
    const manifests = await render({ artifacts: { s3: { bucket: 'models' } } })
    expect(find(manifests, 'StatefulSet', 'postgres')).toBeUndefined()
    expect(find(manifests, 'PersistentVolumeClaim', 'artifacts')).toBeUndefined()
    expect(decode(find(manifests, 'Secret', 'secrets'), 'database-url')).toContain('@postgres.example')
  })
})

describe('what an installation prints', () => {
  test('are the next three commands', async () => {
    const notes = await helm.notes(namespace, { crds: { enabled: false } })
    expect(notes).toContain(`kubectl -n ${namespace} wait --for=condition=Ready basemodel/tiny-chat`)
    expect(notes).toContain('exec deploy/trainyard-apiserver -- node apiserver/accounts/admin/main.ts key team')
    expect(notes).toContain('{"model": "trainyard/tiny-chat"')
    expect(notes).not.toContain('replicas is 0')
  })

  test('is also what does not run', async () => {
    const quiet = { replicas: 0 }
    const values = { crds: { enabled: false }, operator: quiet, statusServer: quiet, baseModels: { 'tiny-chat': null } }
    const notes = await helm.notes(namespace, values)
    expect(notes).toContain('operator.replicas is 0')
    expect(notes).toContain('statusServer.replicas is 0')
    expect(notes).toContain('It has no base model yet.')
  })
})

describe('images', () => {
  const readImages = async (images: object) => {
    const manifests = await helm.render(namespace, { images, crds: { enabled: false } })
    const [setting] = manifests.match(/(?<=TRAINYARD_IMAGES\s+value: ).*/) ?? []
    const control = new Set([...manifests.matchAll(/^ +image: (.*)$/gm)].map(([, image]) => image))
    const policies = new Set(
      [...manifests.matchAll(/(?:imagePullPolicy:|PULL_POLICY\s+value:) (.*)/g)].map(([, policy]) => policy),
    )
    return {
      control: [...control],
      policies: [...policies],
      pods: JSON.parse(JSON.parse(setting!) as string) as object,
    }
  }
  const digest = `sha256:${'0f'.repeat(32)}`

  test('have the tag of the chart', async () => {
    const name = (image: string) => `ghcr.io/trainyard/${image}:0.1.0`
    expect(await readImages({})).toEqual({
      control: [name('control')],
      policies: ['IfNotPresent'],
      pods: {
        engine: { cpu: name('engine-cpu'), cuda: name('engine-cuda') },
        trainer: { cpu: name('trainer-cpu'), cuda: name('trainer-cuda') },
      },
    })
  })

  test('come from a mirror, with tags or digests', async () => {
    const images = {
      registry: 'mirror.example:5000/team',
      control: { digest },
      engine: { cuda: { repository: 'registry.example/own/engine', tag: 'v2' } },
      trainer: { cpu: { tag: 'v3', digest } },
      pullPolicy: 'Always',
    }
    const name = (image: string) => `mirror.example:5000/team/${image}`
    expect(await readImages(images)).toEqual({
      control: [name(`trainyard/control@${digest}`)],
      policies: ['Always'],
      pods: {
        engine: { cpu: name('trainyard/engine-cpu:0.1.0'), cuda: name('own/engine:v2') },
        trainer: { cpu: name(`trainyard/trainer-cpu@${digest}`), cuda: name('trainyard/trainer-cuda:0.1.0') },
      },
    })
  })
})

describe('default limits', () => {
  const render = async (values: object) => {
    const manifests = await helm.render(namespace, values)
    const found = [...manifests.matchAll(/name: TRAINYARD_DEFAULT_(\w+)\s+value: "([^"]*)"/g)]
    return Object.fromEntries(found.map(([, name, value]) => [name!, value!]))
  }
  const defaults = {
    REQUESTS_PER_MINUTE: '60000',
    TOKENS_PER_MINUTE: 'none',
    CONCURRENT_STREAMS: '2048',
    EVENT_STREAMS: '2048',
    QUEUED_JOBS: '20000',
    STORED_BYTES: '1099511627776',
    GPU_SECONDS_PER_DAY: 'none',
    WEIGHT: '1',
  }

  test('apply without any setting', async () => {
    expect(await render({})).toEqual(defaults)
  })

  test('are replaced by settings, and null removes them', async () => {
    const limits = { requestsPerMinute: null, queuedJobs: 0, storedBytes: null, weight: 2.5 }
    const changed = { REQUESTS_PER_MINUTE: 'none', QUEUED_JOBS: '0', STORED_BYTES: 'none', WEIGHT: '2.5' }
    expect(await render({ limits })).toEqual({ ...defaults, ...changed })
  })

  test('of GPU seconds are known to all parts that read the queue of jobs', async () => {
    const manifests = await helm.render(namespace, { limits: { gpuSecondsPerDay: 86_400 } })
    expect(manifests.match(/name: TRAINYARD_DEFAULT_GPU_SECONDS_PER_DAY\s+value: "86400"/g)).toHaveLength(3)
  })

  test('of stored bytes also apply to fetched inputs', async () => {
    const manifests = await helm.render(namespace, { limits: { storedBytes: 5 } })
    expect(manifests.match(/name: TRAINYARD_DEFAULT_STORED_BYTES\s+value: "5"/g)).toHaveLength(2)
  })
})
