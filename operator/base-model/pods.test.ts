import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import type { PodSettings } from './pod/common.ts'
import { buildEngineDeployment } from './engine/deployment.ts'
import { engineHash } from './engine/pod.ts'
import { buildTrainerPod, trainerHash } from './trainer/pod.ts'
import { writableMounts } from './pod/volumes.ts'

const settings: PodSettings = {
  images: { engine: { cpu: 'runtime:1', cuda: 'runtime:1' }, trainer: { cpu: 'runtime:1', cuda: 'runtime:1' } },
  pullPolicy: 'IfNotPresent',
  engineKeys: ['the key'],
  artifacts: { volume: { hostPath: { path: '/data' } } },
  listenOnPodIp: true,
}

const baseModel: BaseModel = {
  metadata: { name: 'tiny', namespace: 'ns', uid: 'u', generation: 1 },
  spec: {
    names: ['trainyard/tiny', 'tiny'],
    source: { path: 'models/tiny' },
    engine: { replicas: 2, maxLoras: 4, maxCpuLoras: 32, maxLoraRank: 16 },
    trainer: { warm: { min: 1 }, maxSequenceLength: 2048, maxJobs: 4, coBatch: 'Off', saveSeconds: 60 },
    lora: { rank: 8, alpha: 16 },
  },
}

const rollout = { replicas: 2, rollingUpdate: { maxSurge: 0, maxUnavailable: 1 }, rolledOutAt: '2026-01-01T00:00:00Z' }

const withSpec = (change: Partial<BaseModel['spec']>): BaseModel => ({
  ...baseModel,
  spec: { ...baseModel.spec, ...change },
})

interface Built {
  spec: { containers: Container[]; template: { spec: { containers: Container[] } }; [field: string]: unknown }
}
interface Container {
  image: string
  args?: string[]
  volumeMounts: object[]
  env: { name: string; value?: string; valueFrom?: object }[]
}

const engineOf = (from: BaseModel, by = settings) =>
  (buildEngineDeployment(from, by, rollout) as unknown as Built).spec.template.spec.containers[0]!
const trainerOf = (from: BaseModel) =>
  (buildTrainerPod(from, settings, { name: 'x' }) as unknown as Built).spec.containers[0]!
const envOf = ({ env }: Container) =>
  Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))

test('an engine gets its names, its model, its limits and its key', () => {
  expect(envOf(engineOf(baseModel))).toEqual({
    HOME: '/home/trainyard',
    TRAINYARD_HOST: { fieldRef: { fieldPath: 'status.podIP' } },
    TRAINYARD_PORT: '8000',
    TRAINYARD_METRICS_PORT: '8001',
    TRAINYARD_DRAIN_SECONDS: '300',
    TRAINYARD_STATUS_URL: 'http://$(TRAINYARD_STATUS_SERVER_SERVICE_HOST):8082',
    TRAINYARD_TOKEN_FILE: '/var/run/secrets/trainyard/token',
    TRAINYARD_MODEL: 'models/tiny',
    TRAINYARD_MODEL_NAMES: 'trainyard/tiny,tiny',
    TRAINYARD_ARTIFACTS: '/artifacts',
    VLLM_API_KEY: { secretKeyRef: { name: 'trainyard-secrets', key: 'engine-key' } },
    TRAINYARD_PREVIOUS_ENGINE_KEY: {
      secretKeyRef: { name: 'trainyard-secrets', key: 'previous-engine-key', optional: true },
    },
    TRAINYARD_MAX_LORAS: '4',
    TRAINYARD_MAX_CPU_LORAS: '32',
    TRAINYARD_LORA: '{"rank":8,"alpha":16}',
    TRAINYARD_MAX_LORA_RANK: '16',
  })
})

test.each([
  ['of a low rank', { rank: 8 }, '16'],
  ['of a high rank', { rank: 100 }, '100'],
])('without maxLoraRank an engine takes the adapters of its base model: %s', (_, lora, expected) => {
  const { maxLoraRank: _given, ...engine } = baseModel.spec.engine ?? {}
  const env = envOf(engineOf(withSpec({ engine, lora })))
  expect(env['TRAINYARD_MAX_LORA_RANK']).toBe(expected)
})

test('an engine has more time to end than its responses, and gateways are notified first', () => {
  const { spec } = buildEngineDeployment(baseModel, settings, rollout) as unknown as Built
  expect(spec.template.spec).toMatchObject({
    terminationGracePeriodSeconds: 330,
    containers: [{ lifecycle: { preStop: { sleep: { seconds: 1 } } } }],
  })
})

test('on a cluster an engine listens on all addresses of its pod', () => {
  expect(envOf(engineOf(baseModel, { ...settings, listenOnPodIp: false }))).toMatchObject({ TRAINYARD_HOST: '0.0.0.0' })
})

test('an engine can only read the store', () => {
  const store = { name: 'artifacts', mountPath: '/artifacts' }
  const token = { name: 'status-token', mountPath: '/var/run/secrets/trainyard', readOnly: true }
  expect(engineOf(baseModel).volumeMounts).toEqual([{ ...store, readOnly: true }, ...writableMounts, token])
  expect(trainerOf(baseModel).volumeMounts).toContainEqual(store)
  const bucket = { ...settings, artifacts: { s3: { address: 's3://bucket' } } }
  expect(engineOf(baseModel, bucket).volumeMounts).toEqual([
    { name: 'artifacts', mountPath: '/artifact-cache' },
    ...writableMounts,
    token,
  ])
})

test('a trainer gets its base model, the address for reports and the kind of adapters', () => {
  expect(envOf(trainerOf(baseModel))).toEqual({
    HOME: '/home/trainyard',
    TRAINYARD_HOST: { fieldRef: { fieldPath: 'status.podIP' } },
    TRAINYARD_METRICS_PORT: '8001',
    TRAINYARD_STATUS_URL: 'http://$(TRAINYARD_STATUS_SERVER_SERVICE_HOST):8082',
    TRAINYARD_TOKEN_FILE: '/var/run/secrets/trainyard/token',
    TRAINYARD_READY_FILE: '/run/trainyard/ready',
    TRAINYARD_BASE_MODEL: 'trainyard/tiny',
    TRAINYARD_MODEL: 'models/tiny',
    TRAINYARD_ARTIFACTS: '/artifacts',
    TRAINYARD_LORA: '{"rank":8,"alpha":16}',
    TRAINYARD_MAX_SEQUENCE_LENGTH: '2048',
    TRAINYARD_MAX_JOBS: '4',
    TRAINYARD_CO_BATCH: 'Off',
    TRAINYARD_SAVE_SECONDS: '60',
    TRAINYARD_GRACE_SECONDS: '55',
  })
})

test('on a cluster a trainer finds the status server by its name', () => {
  const trainer = buildTrainerPod(baseModel, { ...settings, listenOnPodIp: false }, { name: 'x' }) as unknown as Built
  const { TRAINYARD_STATUS_URL: url } = envOf(trainer.spec.containers[0]!)
  expect(url).toBe('http://trainyard-status-server.ns.svc:8082')
})

test('engines and trainers serve their metrics at the same port', () => {
  const port = { name: 'metrics', containerPort: 8001 }
  for (const container of [engineOf(baseModel), trainerOf(baseModel)]) {
    expect(container).toMatchObject({ ports: expect.arrayContaining([port]) })
  }
})

test('a trainer is ready while its file says that it can claim, and the file is its own', () => {
  expect(trainerOf(baseModel)).toMatchObject({
    readinessProbe: { exec: { command: ['cat', '/run/trainyard/ready'] } },
    volumeMounts: expect.arrayContaining([{ name: 'run', mountPath: '/run/trainyard' }]),
  })
  expect((buildTrainerPod(baseModel, settings, { name: 'x' }) as unknown as Built).spec).toMatchObject({
    volumes: expect.arrayContaining([{ name: 'run', emptyDir: {} }]),
  })
})

test('processes of several GPUs have the memory of the pod to talk to each other', () => {
  const volumes = expect.arrayContaining([{ name: 'shared-memory', emptyDir: { medium: 'Memory' } }])
  const engine = (buildEngineDeployment(baseModel, settings, rollout) as unknown as Built).spec.template.spec
  const trainer = (buildTrainerPod(baseModel, settings, { name: 'x' }) as unknown as Built).spec
  for (const spec of [engine, trainer]) {
    expect(spec).toMatchObject({ volumes })
    expect(spec.containers[0]!.volumeMounts).toContainEqual({ name: 'shared-memory', mountPath: '/dev/shm' })
  }
})

test('an engine may take hours for its first download', () => {
  const { startupProbe } = engineOf(baseModel) as unknown as {
    startupProbe: { periodSeconds: number; failureThreshold: number }
  }
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBe(24 * 3600)
})

test('a variable that comes from a Secret is not replaced by a BaseModel', () => {
  const env = [
    { name: 'VLLM_API_KEY', value: 'mine' },
    { name: 'TRAINYARD_MAX_LORAS', value: '9' },
  ]
  const engine = engineOf(withSpec({ engine: { ...baseModel.spec.engine, env } }))
  expect(envOf(engine)).toMatchObject({
    VLLM_API_KEY: { secretKeyRef: { name: 'trainyard-secrets', key: 'engine-key' } },
    TRAINYARD_MAX_LORAS: '9',
  })
})

test('a process whose pod asks for GPUs knows how many', () => {
  const gpus = { resources: { limits: { 'nvidia.com/gpu': 2, memory: '8Gi' } } }
  const on = withSpec({
    engine: { ...baseModel.spec.engine, ...gpus },
    trainer: { ...baseModel.spec.trainer, gpus: 4 },
  })
  expect(envOf(engineOf(on))).toMatchObject({ TRAINYARD_GPUS: '2' })
  expect(envOf(trainerOf(on))).toMatchObject({ TRAINYARD_GPUS: '4' })
  for (const container of [engineOf(baseModel), trainerOf(baseModel)])
    expect(envOf(container)).not.toHaveProperty('TRAINYARD_GPUS')
})

test('a trainer exits before its grace period is over', () => {
  const { spec } = buildTrainerPod(baseModel, settings, { name: 'x' }) as unknown as Built
  const command = ['python', '-m', 'trainyard_trainer']
  expect(spec).toMatchObject({ terminationGracePeriodSeconds: 60, containers: [{ command }] })
})

test('a trainer with several GPUs has a process for each, and requests them', () => {
  const trainer = trainerOf(
    withSpec({ trainer: { ...baseModel.spec.trainer, gpus: 4, maxBatchTokens: 4096, coBatch: 'Any', saveSeconds: 0 } }),
  )
  expect(trainer).toMatchObject({
    command: 'torchrun --standalone --nproc-per-node 4 --shutdown-timeout 58 -m trainyard_trainer'.split(' '),
    resources: { limits: { 'nvidia.com/gpu': 4 } },
  })
  expect(envOf(trainer)).toMatchObject({
    TRAINYARD_MAX_BATCH_TOKENS: '4096',
    TRAINYARD_CO_BATCH: 'Any',
    TRAINYARD_SAVE_SECONDS: '0',
  })
})

test('code beside the weights runs only if the base model allows it', () => {
  const trusting = withSpec({ source: { path: 'models/tiny', trustRemoteCode: true } })
  const more = { ...trusting, spec: { ...trusting.spec, engine: { args: ['--x'] } } }
  expect(envOf(trainerOf(trusting))).toMatchObject({ TRAINYARD_TRUST_REMOTE_CODE: 'true' })
  expect(engineOf(more).args).toEqual(['--trust-remote-code', '--x'])
  const wary = withSpec({ source: { path: 'models/tiny', trustRemoteCode: false } })
  expect(envOf(trainerOf(wary))).not.toHaveProperty('TRAINYARD_TRUST_REMOTE_CODE')
  expect(engineOf(wary)).not.toHaveProperty('args')
  const hashes = [baseModel, wary, trusting].map((each) => trainerHash(each, settings))
  expect([hashes[0] === hashes[1], hashes[1] === hashes[2]]).toEqual([true, false])
})

test('an engine gets the parsers that its base model names, and chooses them itself otherwise', () => {
  const { engine } = baseModel.spec
  const named = withSpec({ engine: { ...engine, toolCallParser: 'hermes', reasoningParser: 'none' } })
  const parsers = { TRAINYARD_TOOL_CALL_PARSER: 'hermes', TRAINYARD_REASONING_PARSER: 'none' }
  expect(envOf(engineOf(named))).toEqual({ ...envOf(engineOf(baseModel)), ...parsers })
  expect(engineHash(named, settings)).not.toBe(engineHash(baseModel, settings))
})

test('a hub model has its revision in its name', () => {
  const hub = withSpec({ source: { hub: { id: 'org/model', revision: 'abc' } } })
  expect(envOf(engineOf(hub))).toMatchObject({ TRAINYARD_MODEL: 'org/model', TRAINYARD_MODEL_REVISION: 'abc' })
  expect(envOf(trainerOf(hub))).toMatchObject({ TRAINYARD_MODEL: 'org/model', TRAINYARD_MODEL_REVISION: 'abc' })
})

test("the admin's image, arguments and variables take precedence", () => {
  const env = [
    { name: 'TRAINYARD_MAX_LORAS', value: '2' },
    { name: 'MORE', value: '1' },
  ]
  const engine = engineOf(withSpec({ engine: { ...baseModel.spec.engine, image: 'own:2', args: ['--x'], env } }))
  expect({ image: engine.image, args: engine.args }).toEqual({ image: 'own:2', args: ['--x'] })
  expect(envOf(engine)).toMatchObject({ TRAINYARD_MAX_LORAS: '2', MORE: '1' })
  expect(engine.env.filter(({ name }) => name === 'TRAINYARD_MAX_LORAS')).toHaveLength(1)
})

test.each<[string, Partial<BaseModel['spec']>, { engine: boolean; trainer: boolean }]>([
  ['the number of engines', { engine: { ...baseModel.spec.engine, replicas: 3 } }, { engine: false, trainer: false }],
  [
    'the number of trainers',
    { trainer: { ...baseModel.spec.trainer, warm: { min: 2 } } },
    { engine: false, trainer: false },
  ],
  [
    'an argument of the engine',
    { engine: { ...baseModel.spec.engine, args: ['--x'] } },
    { engine: true, trainer: false },
  ],
  [
    'a variable of the trainer',
    { trainer: { ...baseModel.spec.trainer, env: [{ name: 'X', value: '1' }] } },
    { engine: false, trainer: true },
  ],
  ['another alias', { names: ['trainyard/tiny', 'small'] }, { engine: true, trainer: false }],
])('%s: which pods are replaced', (_, change, replaced) => {
  const changed = withSpec(change)
  expect({
    engine: engineHash(changed, settings) !== engineHash(baseModel, settings),
    trainer: trainerHash(changed, settings) !== trainerHash(baseModel, settings),
  }).toEqual(replaced)
})

test('engines are replaced when their key is changed, and their pods do not show it', () => {
  const changed = { ...settings, engineKeys: ['another key', 'the key'] }
  expect(engineHash(baseModel, changed)).not.toBe(engineHash(baseModel, settings))
  expect(JSON.stringify(buildEngineDeployment(baseModel, changed, rollout))).not.toContain('another key')
})

test.each<[string, Record<'engine' | 'trainer', string>, boolean, { engine: boolean; trainer: boolean }]>([
  ['the Secret of engines', { engine: 'new', trainer: '' }, false, { engine: true, trainer: false }],
  ['the Secret of trainers', { engine: '', trainer: 'new' }, false, { engine: false, trainer: true }],
  ['the Secret of trainers, in colocated pods', { engine: '', trainer: 'new' }, true, { engine: true, trainer: true }],
  ['no Secret', { engine: '', trainer: '' }, true, { engine: false, trainer: false }],
])('%s has changed: which pods are replaced', (_, secretDigests, colocated, replaced) => {
  const given = withSpec({ colocated })
  const changed = { ...settings, secretDigests }
  expect({
    engine: engineHash(given, changed) !== engineHash(given, settings),
    trainer: trainerHash(given, changed) !== trainerHash(given, settings),
  }).toEqual(replaced)
})

test('a change of the number of engines changes the Deployment', () => {
  const hashOf = (replicas: number) =>
    buildEngineDeployment(baseModel, settings, { ...rollout, replicas }).metadata.labels?.[labels.specHash]
  expect(hashOf(3)).not.toBe(hashOf(2))
})

const secretNames = { engine: 'for-engines', trainer: 'for-trainers' }
const s3 = { address: 's3://bucket/a', endpoint: 'http://s3:9000', region: 'eu-1', secretNames }
const byS3 = { ...settings, artifacts: { s3 } }
const keyOf = (name: string, key: string) => ({ secretKeyRef: { name, key } })

test('on S3, pods get the bucket, credentials of their own and a folder for fetched files', () => {
  const trainer = (buildTrainerPod(baseModel, byS3, { name: 'x' }) as unknown as Built).spec
  for (const [container, name] of [
    [engineOf(baseModel, byS3), 'for-engines'],
    [trainer.containers[0]!, 'for-trainers'],
  ] as const) {
    expect(envOf(container)).toMatchObject({
      TRAINYARD_ARTIFACTS: 's3://bucket/a',
      TRAINYARD_ARTIFACT_CACHE: '/artifact-cache',
      TRAINYARD_S3_ENDPOINT: 'http://s3:9000',
      TRAINYARD_S3_REGION: 'eu-1',
      AWS_ACCESS_KEY_ID: keyOf(name, 'access-key-id'),
      AWS_SECRET_ACCESS_KEY: keyOf(name, 'secret-access-key'),
    })
    expect(container).toMatchObject({
      volumeMounts: expect.arrayContaining([{ name: 'artifacts', mountPath: '/artifact-cache' }]),
    })
  }
  expect(trainer).toMatchObject({ volumes: expect.arrayContaining([{ name: 'artifacts', emptyDir: {} }]) })
})

test('of a colocated pod, each process has its own credentials', () => {
  expect(envOf(engineOf(withSpec({ colocated: true }), byS3))).toMatchObject({
    AWS_ACCESS_KEY_ID: keyOf('for-engines', 'access-key-id'),
    TRAINER_ENV_AWS_ACCESS_KEY_ID: keyOf('for-trainers', 'access-key-id'),
    TRAINER_ENV_AWS_SECRET_ACCESS_KEY: keyOf('for-trainers', 'secret-access-key'),
  })
})

test('S3 without a Secret leaves credentials to AWS', () => {
  const env = envOf(engineOf(baseModel, { ...settings, artifacts: { s3: { address: 's3://bucket' } } }))
  expect(Object.keys(env).filter((name) => /^(AWS|TRAINYARD_S3)_/.test(name))).toEqual([])
})

test('pods are found by their base model and belong to it', () => {
  expect(buildTrainerPod(baseModel, settings, { name: 'tiny-trainer-0' }).metadata).toMatchObject({
    name: 'tiny-trainer-0',
    namespace: 'ns',
    labels: { [labels.baseModel]: 'tiny', [labels.component]: 'trainer' },
    ownerReferences: [{ kind: 'BaseModel', name: 'tiny', uid: 'u', controller: true }],
  })
})
