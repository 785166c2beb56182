import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import type { PodSettings } from './pod/common.ts'
import { buildDisruptionBudget, buildEngineService } from './engine/service.ts'
import { buildEngineDeployment } from './engine/deployment.ts'
import { buildEnginePodSpec, engineHash } from './engine/pod.ts'
import { buildTrainerPod, trainerHash } from './trainer/pod.ts'

const settings: PodSettings = {
  images: { engine: { cpu: 'runtime:1', cuda: 'runtime:1' }, trainer: { cpu: 'runtime:1', cuda: 'runtime:1' } },
  pullPolicy: 'IfNotPresent',
  engineKeys: ['key'],
  artifacts: { s3: { address: 's3://bucket' } },
  listenOnPodIp: false,
  pullSecrets: ['chart'],
  podSecurityContext: { runAsNonRoot: true, fsGroup: 1000 },
  cache: { emptyDir: {} },
}

const scheduling = {
  nodeSelector: { 'nvidia.com/gpu.product': 'H200' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' as const }],
  affinity: { podAntiAffinity: {} },
  runtimeClassName: 'nvidia',
  priorityClassName: 'serving',
}

/** A base model as an administrator of GPUs writes it. */
const baseModel: BaseModel = {
  metadata: { name: 'qwen', namespace: 'ns', uid: 'u', generation: 1 },
  spec: {
    names: ['Qwen/Qwen3-4B'],
    source: { hub: { id: 'Qwen/Qwen3-4B', revision: 'abc' }, secretRef: { name: 'hub' } },
    imagePullSecrets: [{ name: 'own' }, { name: 'chart' }],
    scheduling,
    cache: { persistentVolumeClaim: { claimName: 'models' } },
    engine: {
      image: 'engine:2',
      imagePullPolicy: 'Always',
      replicas: 2,
      args: ['--dtype', 'bfloat16'],
      env: [{ name: 'PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url' } } }],
      resources: { limits: { 'nvidia.com/gpu': 2 } },
      podTemplate: {
        metadata: { labels: { team: 'nlp' }, annotations: { note: 'a' } },
        spec: { dnsPolicy: 'Default', containers: [{ name: 'logs', image: 'logs:1' }] },
      },
    },
    trainer: { serviceAccountName: 'gpu', gpus: 1, resources: { limits: { memory: '64Gi' } } },
  },
}

const rollout = { replicas: 2, rollingUpdate: { maxSurge: 0, maxUnavailable: 1 }, rolledOutAt: '' }

const withSource = (source: BaseModel['spec']['source']): BaseModel => {
  const { cache: _cache, ...spec } = baseModel.spec
  return { ...baseModel, spec: { ...spec, source } }
}

interface Container {
  args?: string[]
  env: { name: string; value?: string; valueFrom?: object }[]
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[]
}
interface PodSpec {
  containers: Container[]
  volumes: object[]
}
const engineOf = (from: BaseModel) =>
  (
    buildEngineDeployment(from, settings, rollout) as unknown as {
      spec: { template: { metadata: object; spec: PodSpec } }
    }
  ).spec.template
const trainerOf = (from: BaseModel) =>
  (buildTrainerPod(from, settings, { name: 'x' }) as unknown as { spec: PodSpec }).spec
const envOf = ({ containers: [container] }: PodSpec) =>
  Object.fromEntries(container!.env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))

const common = {
  automountServiceAccountToken: false,
  imagePullSecrets: [{ name: 'chart' }, { name: 'own' }],
  ...scheduling,
  securityContext: { runAsNonRoot: true, fsGroup: 1000 },
}
const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const mounts = [
  { name: 'artifacts', mountPath: '/artifact-cache' },
  { name: 'tmp', mountPath: '/tmp' },
  { name: 'home', mountPath: '/home/trainyard' },
  { name: 'shared-memory', mountPath: '/dev/shm' },
  { name: 'run', mountPath: '/run/trainyard' },
  { name: 'cache', mountPath: '/cache' },
]
const volumes = [
  { name: 'artifacts', emptyDir: {} },
  { name: 'tmp', emptyDir: {} },
  { name: 'home', emptyDir: {} },
  { name: 'shared-memory', emptyDir: { medium: 'Memory' } },
  { name: 'run', emptyDir: {} },
  { name: 'cache', persistentVolumeClaim: { claimName: 'models' } },
]
const statusToken = { name: 'status-token', projected: expect.any(Object) as object }
const statusTokenMount = { name: 'status-token', mountPath: '/var/run/secrets/trainyard', readOnly: true }
const hub = {
  TRAINYARD_MODEL: 'Qwen/Qwen3-4B',
  TRAINYARD_MODEL_REVISION: 'abc',
  HF_TOKEN: { secretKeyRef: { name: 'hub', key: 'token' } },
  HF_HOME: '/cache/huggingface',
  TRAINYARD_MODEL_CACHE: '/cache/models',
}

test('the pod of an engine with GPUs, in full', () => {
  const { metadata, spec } = engineOf(baseModel)
  expect(metadata).toMatchObject({
    labels: { team: 'nlp', 'trainyard.dev/spec-hash': engineHash(baseModel, settings) },
    annotations: { note: 'a' },
  })
  expect(spec).toEqual({
    ...common,
    serviceAccountName: 'trainyard-engine',
    dnsPolicy: 'Default',
    terminationGracePeriodSeconds: 330,
    volumes: [...volumes, statusToken],
    containers: [
      {
        name: 'engine',
        image: 'engine:2',
        imagePullPolicy: 'Always',
        resources: { requests: { cpu: '100m', memory: '1400Mi' }, limits: { 'nvidia.com/gpu': 2 } },
        securityContext: { ...security, readOnlyRootFilesystem: true },
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [...mounts, statusTokenMount],
        command: ['python', '-m', 'trainyard_engine'],
        args: ['--tensor-parallel-size', '2', '--dtype', 'bfloat16'],
        ports: [
          { name: 'http', containerPort: 8000 },
          { name: 'metrics', containerPort: 8001 },
        ],
        env: expect.any(Array),
        lifecycle: { preStop: { sleep: { seconds: 1 } } },
        startupProbe: expect.any(Object),
        readinessProbe: expect.any(Object),
        livenessProbe: expect.any(Object),
      },
      { name: 'logs', image: 'logs:1', securityContext: security },
    ],
  })
  expect(envOf(spec)).toMatchObject({
    ...hub,
    VLLM_CACHE_ROOT: '/cache/engine/vllm',
    TORCHINDUCTOR_CACHE_DIR: '/cache/engine/torchinductor',
    TRITON_CACHE_DIR: '/cache/engine/triton',
    PROXY: { secretKeyRef: { name: 'proxy', key: 'url' } },
  })
})

test('the pod of a trainer with a GPU, in full', () => {
  const spec = trainerOf(baseModel)
  expect(spec).toEqual({
    ...common,
    serviceAccountName: 'gpu',
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 60,
    volumes: [...volumes, statusToken],
    containers: [
      {
        name: 'trainer',
        image: 'runtime:1',
        imagePullPolicy: 'IfNotPresent',
        resources: { requests: { cpu: '100m' }, limits: { memory: '64Gi', 'nvidia.com/gpu': 1 } },
        securityContext: { ...security, readOnlyRootFilesystem: true },
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [...mounts, statusTokenMount],
        command: ['python', '-m', 'trainyard_trainer'],
        env: expect.any(Array),
        ports: [{ name: 'metrics', containerPort: 8001 }],
        readinessProbe: expect.any(Object),
      },
    ],
  })
  expect(envOf(spec)).toMatchObject({
    ...hub,
    TORCHINDUCTOR_CACHE_DIR: '/cache/trainer/torchinductor',
    TRITON_CACHE_DIR: '/cache/trainer/triton',
    PYTORCH_ALLOC_CONF: 'expandable_segments:True',
  })
})

test('a model in a bucket has its own credentials, beside those of the artifact store', () => {
  const s3 = { uri: 's3://models/qwen', endpoint: 'https://s3:9000', region: 'eu-1' }
  const from = withSource({ s3, secretRef: { name: 'bucket' } })
  for (const spec of [engineOf(from).spec, trainerOf(from)]) {
    expect(envOf(spec)).toMatchObject({
      TRAINYARD_MODEL: 's3://models/qwen',
      TRAINYARD_MODEL_S3_ENDPOINT: 'https://s3:9000',
      TRAINYARD_MODEL_S3_REGION: 'eu-1',
      TRAINYARD_MODEL_S3_ACCESS_KEY_ID: { secretKeyRef: { name: 'bucket', key: 'access-key-id' } },
      TRAINYARD_MODEL_S3_SECRET_ACCESS_KEY: { secretKeyRef: { name: 'bucket', key: 'secret-access-key' } },
    })
    expect(spec.volumes).toContainEqual({ name: 'cache', emptyDir: {} })
  }
  const without = envOf(trainerOf(withSource({ s3: { uri: 's3://models/qwen' } })))
  expect(Object.keys(without).filter((name) => name.startsWith('TRAINYARD_MODEL_S3'))).toEqual([])
})

test.each([
  ['qwen/v3', '/model/qwen/v3'],
  [undefined, '/model'],
])('a model in a claim is mounted read-only: %s', (path, expected) => {
  const from = withSource({ pvc: { claimName: 'weights', ...(path && { path }) } })
  for (const spec of [engineOf(from).spec, trainerOf(from)]) {
    expect(envOf(spec)).toMatchObject({ TRAINYARD_MODEL: expected })
    expect(spec.volumes).toContainEqual({
      name: 'model',
      persistentVolumeClaim: { claimName: 'weights', readOnly: true },
    })
    expect(spec.containers[0]!.volumeMounts).toContainEqual({ name: 'model', mountPath: '/model', readOnly: true })
  }
})

test('a folder of the node as a cache is created', () => {
  const from = { ...baseModel, spec: { ...baseModel.spec, cache: { hostPath: { path: '/var/models' } } } }
  const volume = { name: 'cache', hostPath: { path: '/var/models', type: 'DirectoryOrCreate' } }
  expect(trainerOf(from).volumes).toContainEqual(volume)
})

test('pods that nothing has changed for are not replaced', () => {
  // The hashes without these fields. Change them only if pods must change anyway, as engines do for a new image.
  const old: BaseModel = {
    metadata: { name: 'tiny', namespace: 'ns', uid: 'u', generation: 1 },
    spec: {
      names: ['trainyard/tiny', 'tiny'],
      source: { path: 'models/tiny' },
      engine: { replicas: 2, maxLoras: 4, maxCpuLoras: 32, maxLoraRank: 16, imagePullPolicy: 'IfNotPresent' },
      trainer: { warm: { min: 1 }, maxSequenceLength: 2048, maxJobs: 4, coBatch: 'Off', saveSeconds: 60 },
      lora: { rank: 8, alpha: 16 },
    },
  }
  const plain: PodSettings = {
    images: { engine: { cpu: 'runtime:1', cuda: 'runtime:1' }, trainer: { cpu: 'runtime:1', cuda: 'runtime:1' } },
    pullPolicy: 'IfNotPresent',
    engineKeys: ['key'],
    artifacts: { volume: { hostPath: { path: '/data' } } },
    listenOnPodIp: true,
  }
  expect([engineHash(old, plain), trainerHash(old, plain)]).toEqual(['b1ab0cc2b5', 'd541536c1d'])
})

test('a label of a template replaces pods, so that all have it', () => {
  const { podTemplate: _template, ...engine } = baseModel.spec.engine ?? {}
  const change = (labels: Record<string, string>) => ({
    ...baseModel,
    spec: { ...baseModel.spec, engine: { ...engine, podTemplate: { metadata: { labels } } } },
  })
  expect(engineHash(change({ a: '1' }), settings)).not.toBe(engineHash(change({ a: '2' }), settings))
})

test('engines have a name in the cluster, and several have a budget for drains', () => {
  const owned = { name: 'qwen-engine', namespace: 'ns', ownerReferences: [{ kind: 'BaseModel', uid: 'u' }] }
  const selector = { 'trainyard.dev/base-model': 'qwen', 'trainyard.dev/component': 'engine' }
  expect(buildEngineService(baseModel)).toMatchObject({
    metadata: owned,
    spec: { clusterIP: 'None', selector, ports: [{ name: 'http', port: 8000 }] },
  })
  expect(buildDisruptionBudget(baseModel, 2)).toMatchObject({
    metadata: owned,
    spec: { maxUnavailable: 1, selector: { matchLabels: selector }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  })
  for (const replicas of [0, 1]) expect(buildDisruptionBudget(baseModel, replicas)).toBeUndefined()
})

test.each<[string, Partial<BaseModel['spec']>, string[]]>([
  ['without GPUs', {}, ['cpu', 'cpu']],
  ['with a GPU for the engine', { engine: { resources: { limits: { 'nvidia.com/gpu': 1 } } } }, ['cuda', 'cpu']],
  ['with GPUs for the trainer', { trainer: { gpus: 2 } }, ['cpu', 'cuda']],
  ['with trainers of several processes on processors', { trainer: { gpus: 0 } }, ['cpu', 'cpu']],
  ['with an image of its own', { engine: { image: 'own' } }, ['own', 'cpu']],
])('images of a base model %s', (_, change, expected) => {
  const images = { engine: { cpu: 'cpu', cuda: 'cuda' }, trainer: { cpu: 'cpu', cuda: 'cuda' } }
  const named: PodSettings = { ...settings, images }
  const owner = { ...baseModel, spec: { names: ['a'], source: { path: 'a' }, ...change } }
  const pods = [{ spec: buildEnginePodSpec(owner, named) }, buildTrainerPod(owner, named, { name: 'a' })]
  const found = pods as { spec: { containers: { image: string }[] } }[]
  expect(found.map(({ spec }) => spec.containers[0]!.image)).toEqual(expected)
})
