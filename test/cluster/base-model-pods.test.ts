import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { BaseModel } from '../../crds/generated.ts'
import { recordDownload } from '../../db/base-models/downloads.ts'
import { recordUntrainedLayers } from '../../db/base-models/untrained-layers.ts'
import type { Pod, PodStatus } from '../../lib/kube/objects.ts'
import type { PodSettings } from '../../operator/base-model/pod/common.ts'
import { buildDisruptionBudget, buildEngineService } from '../../operator/base-model/engine/service.ts'
import { buildEngineDeployment } from '../../operator/base-model/engine/deployment.ts'
import { buildTrainerPod } from '../../operator/base-model/trainer/pod.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { nowhere } from '../support/scaled-base-model.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const suffix = randomUUID().slice(0, 8)
const namespace = `pods-${suffix}`
// A RuntimeClass and a PriorityClass have no namespace.
const className = `gpu-${suffix}`
const database = useTestDatabase()
let operator: RunningOperator

beforeAll(async () => {
  await createNamespace(stack, namespace)
  await stack.kubectl('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted')
  for (const name of ['gpu', 'trainyard-engine', 'trainyard-trainer', 'trainyard-colocated']) {
    await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  }
  const metadata = { name: className }
  await stack.apply({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata, handler: 'nvidia' })
  await stack.apply({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value: 1 })
  const { databaseUrl } = database
  const env = { TRAINYARD_POD_SECURITY_CONTEXT: JSON.stringify(podSecurityContext) }
  operator = await startOperator(stack, { databaseUrl, namespace, env })
})

afterAll(async () => {
  await operator.remove()
  await removeNamespace(stack, namespace)
  await stack.kubectl('delete', `runtimeclass/${className}`, `priorityclass/${className}`)
})

const chartFile = new URL('../../helm/trainyard/values.yaml', import.meta.url)
const { podSecurityContext } = parse(readFileSync(chartFile, 'utf8')) as { podSecurityContext: Record<string, unknown> }
const settings = {
  images: { engine: { cpu: 'runtime:1', cuda: 'runtime:1' }, trainer: { cpu: 'runtime:1', cuda: 'runtime:1' } },
  pullPolicy: 'IfNotPresent',
  engineKeys: ['key'],
  artifacts: { s3: { address: 's3://bucket', secretNames: { engine: 'a', trainer: 'b' } } },
  listenOnPodIp: false,
  pullSecrets: ['registry'],
  podSecurityContext,
  cache: { emptyDir: {} },
}

const describeBaseModel = (spec: object, name = 'gpus') =>
  ({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'BaseModel',
    metadata: { name, namespace },
    spec: { names: [name], source: { path: 'models/none' }, ...spec },
  }) as unknown as BaseModel

const hub = { hub: { id: 'Qwen/Qwen3-4B', revision: 'abc' } }
const token = { name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: 'hub', key: 'token' } } }
const plain = { name: 'TOKENIZERS_PARALLELISM', value: 'false' }
const fromSecret = { name: 'PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url', optional: true } } }
const fromField = { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }
const fromConfigMap = { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'levels', key: 'all' } } }
const podTemplate = {
  metadata: { labels: { team: 'nlp' }, annotations: { 'example.com/note': 'a' } },
  spec: {
    dnsPolicy: 'Default',
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    containers: [
      { name: 'engine', volumeMounts: [{ name: 'more', mountPath: '/more' }] },
      { name: 'logs', image: 'logs:1' },
    ],
    volumes: [
      { name: 'more', emptyDir: {} },
      { name: 'shared-memory', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    ],
  },
}
const full = {
  source: { ...hub, secretRef: { name: 'hub' }, trustRemoteCode: true },
  imagePullSecrets: [{ name: 'own' }],
  scheduling: {
    nodeSelector: { gpu: 'h200' },
    tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }],
        },
      },
    },
    runtimeClassName: className,
    priorityClassName: className,
  },
  cache: { persistentVolumeClaim: { claimName: 'models' } },
  engine: {
    image: 'engine:2',
    imagePullPolicy: 'Always',
    replicas: 2,
    env: [fromSecret, fromField, fromConfigMap, token, plain],
    resources: { limits: { 'nvidia.com/gpu': 2 } },
    podTemplate,
  },
  trainer: { serviceAccountName: 'gpu', gpus: 2, env: [fromSecret], podTemplate: { metadata: podTemplate.metadata } },
}

const rollout = {
  replicas: 2,
  rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
  rolledOutAt: new Date().toISOString(),
}
const dryRun = (object: object) => stack.apply(object, '--dry-run=server', '--server-side')

describe('the API server accepts what is made of a base model, in a namespace with the security standard "restricted"', () => {
  test.each<[string, object, object?]>([
    ['with all fields of GPUs', full],
    ['with a model in a bucket', { source: { s3: { uri: 's3://models/qwen' }, secretRef: { name: 'bucket' } } }],
    ['with a model in a claim', { source: { pvc: { claimName: 'weights', path: 'qwen/v3' } } }],
    ['with a limited cache', { source: hub, cache: { emptyDir: { sizeLimit: '200Gi' } } }],
    ['with one GPU for both', { colocated: true, engine: { resources: { limits: { 'nvidia.com/gpu': 1 } } } }],
    ['without any of them', {}],
    ['on a volume', {}, { artifacts: { volume: { persistentVolumeClaim: { claimName: 'trainyard-artifacts' } } } }],
    // OpenShift chooses users itself.
    ['without a user', {}, { podSecurityContext: undefined }],
  ])('%s', async (_, spec, change = {}) => {
    const by = { ...settings, ...change } as PodSettings
    const baseModel = describeBaseModel(spec)
    const owned = { ...baseModel, metadata: { ...baseModel.metadata, uid: randomUUID() } }
    const deployment = buildEngineDeployment(owned, by, rollout)
    const { template } = (deployment as unknown as { spec: { template: { metadata: object; spec: object } } }).spec
    const metadata = { ...template.metadata, name: 'engine', namespace }
    const items = [
      baseModel,
      deployment,
      { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec },
      buildTrainerPod(owned, by, { name: 'trainer' }),
      buildEngineService(owned),
      buildDisruptionBudget(owned, 2),
    ]
    const accepted = await dryRun({ apiVersion: 'v1', kind: 'List', items })
    expect(accepted.match(/ serverside-applied \(server dry run\)/g)).toHaveLength(items.length)
  })
})

describe('values that cannot work are rejected with a sentence', () => {
  const inContainer = (container: object) => ({ engine: { podTemplate: { spec: { containers: [container] } } } })
  const inPod = (spec: object) => ({ trainer: { podTemplate: { spec } } })
  test.each<[string, object, string]>([
    ['no source', { source: {} }, 'exactly one of path, hub, s3 and pvc'],
    ['two sources', { source: { path: 'a', pvc: { claimName: 'a' } } }, 'exactly one of path, hub, s3 and pvc'],
    ['a Secret for a folder', { source: { path: 'a', secretRef: { name: 'a' } } }, 'secretRef is for hub and s3 only'],
    ['an address that is no bucket', { source: { s3: { uri: 'https://a' } } }, 'spec.source.s3.uri'],
    ['a folder outside of the claim', { source: { pvc: { claimName: 'a', path: 'a/../..' } } }, 'must not contain ..'],
    ['two caches', { cache: { emptyDir: {}, hostPath: { path: '/a' } } }, 'exactly one of emptyDir'],
    ['a variable without a value', { engine: { env: [{ name: 'A' }] } }, 'exactly one of value and valueFrom'],
    [
      'a variable with two sources',
      { trainer: { env: [{ ...fromSecret, valueFrom: { ...fromSecret.valueFrom, ...fromField.valueFrom } }] } },
      'exactly one of secretKeyRef, configMapKeyRef and fieldRef',
    ],
    ['a token as text', { engine: { env: [{ name: 'HF_TOKEN', value: 'x' }] } }, 'comes from a Secret'],
    ['a key as text', { trainer: { env: [{ name: 'AWS_SECRET_ACCESS_KEY', value: 'x' }] } }, 'comes from a Secret'],
    [
      'a token of the hub under another name',
      { trainer: { env: [{ name: 'HUB', value: `hf_${'a'.repeat(34)}` }] } },
      'a token of the Hugging Face hub comes from a Secret',
    ],
    [
      'a label of the operator',
      { engine: { podTemplate: { metadata: { labels: { 'trainyard.dev/component': 'x' } } } } },
      'are set by the operator',
    ],
    ['a service account', inPod({ serviceAccountName: 'admin' }), 'set serviceAccountName of engine or trainer'],
    ['a token', inPod({ automountServiceAccountToken: true }), 'no service account and no token'],
    ['the network of the node', inPod({ hostNetwork: true }), "does not open the node's network"],
    ['another restart policy', inPod({ restartPolicy: 'Never' }), 'does not set restartPolicy'],
    ['another command', inContainer({ name: 'engine', command: ['sh'] }), 'does not set command, args, env, image'],
    [
      'a privileged container',
      inContainer({ name: 'x', securityContext: { privileged: true } }),
      'makes no container privileged',
    ],
    [
      'an added capability',
      inContainer({ name: 'x', securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
      'adds no capabilities',
    ],
    [
      "a volume in place of the operator's",
      inPod({ volumes: [{ name: 'status-token', emptyDir: {} }] }),
      "does not replace the operator's volumes",
    ],
    [
      "a mount over the operator's",
      inContainer({ name: 'engine', volumeMounts: [{ name: 'more', mountPath: '/artifacts/' }] }),
      "mounts nothing into the operator's folders",
    ],
  ])('%s', async (_, spec, sentence) => {
    await expect(dryRun(describeBaseModel(spec))).rejects.toThrow(sentence)
  })
})

test('the Secret of a source can change, and nothing else of it', async () => {
  const withSource = (source: object) =>
    describeBaseModel({ source, engine: { replicas: 0 }, trainer: { warm: { min: 0 } } }, 'moved')
  await stack.apply(withSource(hub))
  await stack.apply(withSource({ ...hub, secretRef: { name: 'later' } }))
  const sentence = 'source is immutable except for its secretRef'
  await expect(stack.apply(withSource({ hub: { ...hub.hub, revision: 'b' } }))).rejects.toThrow(sentence)
  await expect(stack.apply(withSource({ ...hub, trustRemoteCode: true }))).rejects.toThrow(sentence)
})

const readJson = async (...args: string[]): Promise<unknown> =>
  JSON.parse(await stack.kubectl('get', ...args, '-n', namespace, '-o', 'json'))

test('a template that the API server rejects is told in the status, and is not tried again at once', async () => {
  const invalid = { podTemplate: { spec: { nodeSelectr: { a: 'b' } } } }
  await stack.apply(describeBaseModel({ engine: { replicas: 0, ...invalid }, trainer: { ...invalid } }, 'invalid'))
  await eventually(async () => {
    const { status } = (await readJson('bm', 'invalid')) as BaseModel
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'False', message: expect.stringContaining('nodeSelectr') })
  })
  await stack.apply(describeBaseModel({ engine: { replicas: 0, ...invalid } }, 'invalid'))
  // Trainers do not wait for the engine's template.
  await eventually(async () => {
    const { items } = (await readJson('pods', '-l', 'trainyard.dev/base-model=invalid')) as { items: unknown[] }
    expect(items).toHaveLength(1)
  })
})

test.each<[string, (template: object) => object]>([
  ['of an engine', (template) => ({ engine: { podTemplate: template }, trainer: { warm: { min: 0 } } })],
  ['of a trainer', (template) => ({ engine: { autoscaling: { min: 0, max: 1 } }, trainer: { podTemplate: template } })],
  ['of both in one container', (template) => ({ colocated: true, engine: { podTemplate: template } })],
])('a template %s that breaks the security standard of its namespace is told', async (_, build) => {
  const name = `insecure-${randomUUID().slice(0, 8)}`
  const insecure = { spec: { volumes: [{ name: 'node', hostPath: { path: '/' } }] } }
  await stack.apply(describeBaseModel(build(insecure), name))
  await eventually(async () => {
    const { status } = (await readJson('bm', name)) as BaseModel
    const message = expect.stringContaining('(volume "node" uses restricted volume type "hostPath")') as string
    expect(status).toMatchObject({ reason: 'PodSecurityViolation', message })
  })
  const selector = `involvedObject.name=${name},reason=PodSecurityViolation`
  await eventually(async () => {
    const { items } = (await readJson('events', '--field-selector', selector)) as { items: object[] }
    expect(items).toMatchObject([{ type: 'Warning', message: expect.stringContaining('Change its podTemplate') }])
  })
  await stack.apply(describeBaseModel(build({}), name))
  await eventually(async () => {
    const { status } = (await readJson('bm', name)) as BaseModel
    expect(status?.reason).not.toBe('PodSecurityViolation')
  })
  await stack.kubectl('delete', 'bm', name, '-n', namespace, '--wait=false')
})

test('the status has the bytes of downloads, and the layers that are not trained', async () => {
  await stack.apply(
    describeBaseModel({ engine: { autoscaling: { min: 0, max: 1 } }, trainer: { resources: nowhere } }, 'fetching'),
  )
  const pod = await eventually(async () => {
    const { items } = (await readJson('pods', '-l', 'trainyard.dev/base-model=fetching')) as { items: Pod[] }
    return items[0] ?? expect.fail('there is no trainer yet')
  })
  const { name = '', uid = '' } = pod.metadata
  const patch = (status: PodStatus) => {
    const args = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
    return stack.kubectl('patch', 'pod', name, '-n', namespace, ...args)
  }
  await patch({ phase: 'Running', conditions: [{ type: 'PodScheduled', status: 'True' }] })
  const download = { doneBytes: 3_000_000_000, totalBytes: 8_000_000_000 }
  await recordDownload(database.pool, uid, download)
  await recordUntrainedLayers(database.pool, 'fetching', { layers: ['experts', 'gate'], share: 0.9 })
  await eventually(async () => {
    const { status } = (await readJson('bm', 'fetching')) as BaseModel
    expect(status).toMatchObject({ reason: 'Downloading', downloads: [{ pod: name, ...download }] })
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'LayersTrained', status: 'False' }))
  })
  await recordDownload(database.pool, uid, { ...download, doneBytes: download.totalBytes })
  await eventually(async () =>
    expect((await readJson('bm', 'fetching')) as BaseModel).not.toHaveProperty('status.downloads'),
  )
})

interface Engines {
  metadata: { generation: number }
  spec: { template: { spec: { containers: { image: string }[] } } }
}

test('engines have a Service and a budget, and get back what somebody changes', async () => {
  const engine = { replicas: 2, image: 'engine:1' }
  const scaled = (replicas: number) =>
    stack.apply(describeBaseModel({ engine: { ...engine, replicas }, trainer: { warm: { min: 0 } } }, 'drift'))
  await scaled(2)
  const imageOf = async () =>
    ((await readJson('deployment', 'drift-engine')) as Engines).spec.template.spec.containers[0]!.image
  await eventually(async () => {
    expect(await imageOf()).toBe('engine:1')
    await readJson('service', 'drift-engine')
    expect(await readJson('pdb', 'drift-engine')).toMatchObject({ spec: { maxUnavailable: 1 } })
  })
  await stack.kubectl('set', 'image', 'deployment/drift-engine', 'engine=engine:2', '-n', namespace)
  await eventually(async () => expect(await imageOf()).toBe('engine:1'))
  await stack.kubectl('delete', 'service', 'drift-engine', '-n', namespace)
  await eventually(() => readJson('service', 'drift-engine'))
  await scaled(1)
  await eventually(async () => {
    expect(await stack.kubectl('get', 'pdb', '-n', namespace)).not.toContain('drift-engine')
  })
})
