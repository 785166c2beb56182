import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import type { PodSettings } from './pod/common.ts'
import { mergeTrainerEnv } from './colocation.ts'
import { buildEnginePodSpec } from './engine/pod.ts'

const settings: PodSettings = {
  images: { engine: { cpu: 'runtime:1', cuda: 'runtime:1' }, trainer: { cpu: 'runtime:1', cuda: 'runtime:1' } },
  pullPolicy: 'IfNotPresent',
  engineKeys: ['the key'],
  artifacts: { volume: { hostPath: { path: '/data' } } },
  listenOnPodIp: false,
  cache: { emptyDir: {} },
}

const baseModel: BaseModel = {
  metadata: { name: 'tiny', namespace: 'ns', uid: 'u', generation: 1 },
  spec: {
    names: ['tiny'],
    source: { path: 'models/tiny' },
    colocated: true,
    engine: { resources: { limits: { 'nvidia.com/gpu': 1 } }, env: [{ name: 'OMP_NUM_THREADS', value: '2' }] },
    trainer: { maxJobs: 2, timeSharePercent: 30, env: [{ name: 'OMP_NUM_THREADS', value: '4' }] },
    lora: { rank: 8, alpha: 16 },
  },
}

interface PodSpec {
  serviceAccountName: string
  terminationGracePeriodSeconds: number
  containers: {
    name: string
    command: string[]
    ports: object[]
    env: { name: string; value?: string }[]
    resources: object
    volumeMounts: object[]
  }[]
}

const build = (spec: Partial<BaseModel['spec']> = {}) =>
  buildEnginePodSpec({ ...baseModel, spec: { ...baseModel.spec, ...spec } }, settings) as unknown as PodSpec
const valuesOf = ({ containers }: PodSpec) =>
  Object.fromEntries((containers[0]?.env ?? []).map(({ name, value }) => [name, value]))

test('the engine and the trainer of a colocated base model share one container and its GPU', () => {
  const pod = build()
  expect(pod.containers).toHaveLength(1)
  expect(pod.containers[0]).toMatchObject({
    name: 'engine',
    command: ['python', '-m', 'trainyard_colocated'],
    resources: { limits: { 'nvidia.com/gpu': 1 } },
  })
  expect(pod.containers[0]?.ports).toContainEqual({ name: 'trainer-metrics', containerPort: 8002 })
  // Each may end in its own time, the trainer first.
  expect(pod.terminationGracePeriodSeconds).toBe(330 + 60)
  expect(pod.serviceAccountName).toBe('trainyard-colocated')
  // The trainer writes checkpoints.
  expect(pod.containers[0]?.volumeMounts).toContainEqual({ name: 'artifacts', mountPath: '/artifacts' })
})

test("the trainer's variables have a prefix, unless they are the engine's too", () => {
  const values = valuesOf(build())
  expect(values).toMatchObject({
    TRAINYARD_MODEL: 'models/tiny',
    TRAINYARD_GPUS: '1',
    TRAINYARD_TRAINER_TIME_PERCENT: '30',
    OMP_NUM_THREADS: '2',
    VLLM_CACHE_ROOT: '/cache/engine/vllm',
    TRAINER_ENV_TRAINYARD_BASE_MODEL: 'tiny',
    TRAINER_ENV_TRAINYARD_MAX_JOBS: '2',
    TRAINYARD_METRICS_PORT: '8001',
    TRAINER_ENV_TRAINYARD_METRICS_PORT: '8002',
    TRAINER_ENV_PYTORCH_ALLOC_CONF: 'expandable_segments:True',
    TRAINER_ENV_OMP_NUM_THREADS: '4',
    TRAINER_ENV_VLLM_CACHE_ROOT: '/cache/trainer/vllm',
  })
  const absent = ['TRAINER_ENV_TRAINYARD_MODEL', 'TRAINER_ENV_TRAINYARD_READY_FILE', 'PYTORCH_ALLOC_CONF']
  expect(absent.filter((name) => name in values)).toEqual([])
})

test('an engine that is not colocated has nothing of a trainer', () => {
  const pod = build({ colocated: false })
  expect(pod.containers[0]?.command).toEqual(['python', '-m', 'trainyard_engine'])
  expect([pod.serviceAccountName, pod.terminationGracePeriodSeconds]).toEqual(['trainyard-engine', 330])
  expect(Object.keys(valuesOf(pod)).filter((name) => /^TRAINER_ENV_|TIME_PERCENT/.test(name))).toEqual([])
})

test('variables with the same name and another value or source stay separate', () => {
  const secret = { secretKeyRef: { name: 's', key: 'k' } }
  const merged = mergeTrainerEnv(
    [
      { name: 'A', value: '1' },
      { name: 'S', valueFrom: secret },
    ],
    [
      { name: 'A', value: '2' },
      { name: 'S', valueFrom: secret },
    ],
  )
  expect(merged.map(({ name }) => name)).toEqual(['A', 'S', 'TRAINER_ENV_A'])
})
