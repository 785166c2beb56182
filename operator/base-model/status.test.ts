import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import type { ContainerStatus, Pod, PodStatus } from '../../lib/kube/objects.ts'
import { describeFailures } from './trainer/failed-trainers.ts'
import { describeBaseModel, type WorkloadFacts } from './status.ts'

const now = new Date('2026-01-01T00:00:00Z')
const baseModel: BaseModel = {
  metadata: { name: 'tiny', generation: 3 },
  spec: { names: ['tiny'], source: { path: 'x' }, engine: { replicas: 1 }, trainer: { warm: { min: 1 } } },
}

const podUid = '5a0c1d7e-0000-4000-8000-000000000000'

function pod(status: PodStatus, hash = 'new', deletionTimestamp?: string): Pod {
  const metadata = {
    name: 'pod',
    uid: podUid,
    labels: { [labels.specHash]: hash },
    ...(deletionTimestamp && { deletionTimestamp }),
  }
  return { metadata, status }
}

const container = (state: Partial<ContainerStatus>): PodStatus => ({
  phase: 'Running',
  containerStatuses: [{ name: 'engine', ready: false, restartCount: 2, ...state }],
})
const ready = pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
const disrupted = (reason: string, message: string): PodStatus => ({
  phase: 'Running',
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason, message }],
})
const unscheduled = (message: string): PodStatus => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
})

const ownEnd = {
  terminated: {
    exitCode: 1,
    reason: 'Error',
    message: 'a log line\ntrainyard_engine: AdapterNotApplied: vLLM applies 0 of the 14 layers. Serve another.\n',
  },
}

type Case = [
  string,
  Partial<WorkloadFacts> & { spec?: Partial<BaseModel['spec']> },
  { reason: string; ready: string; message?: string },
]
const cases: Case[] = [
  ['all is well', {}, { reason: 'Ready', ready: 'True' }],
  ['no pods yet', { enginePods: [] }, { reason: 'EngineNotReady', ready: 'False' }],
  ['no trainer', { trainerPods: [] }, { reason: 'TrainerNotReady', ready: 'False' }],
  [
    'an engine of an old specification does not count',
    { enginePods: [pod(ready.status!, 'old')] },
    { reason: 'EngineNotReady', ready: 'False' },
  ],
  [
    'an engine that is being ended does not count',
    { enginePods: [pod(ready.status!, 'new', '2026-01-01T00:00:00Z')] },
    { reason: 'Terminating', ready: 'False' },
  ],
  ['replicas 0', { wantedEngines: 0, enginePods: [] }, { reason: 'EngineAtZero', ready: 'False' }],
  [
    'scaled to zero: the next chat starts an engine',
    { spec: { engine: { autoscaling: { min: 0, max: 1 } } }, wantedEngines: 0, enginePods: [] },
    { reason: 'ScaledToZero', ready: 'True' },
  ],
  [
    'scaled to zero, without the trainer that is wanted',
    { spec: { engine: { autoscaling: { min: 0, max: 1 } } }, wantedEngines: 0, enginePods: [], trainerPods: [] },
    { reason: 'TrainerNotReady', ready: 'False' },
  ],
  [
    'an image that cannot be pulled',
    { enginePods: [pod(container({ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }))] },
    { reason: 'ImagePullBackOff', ready: 'False', message: 'pod pod: no such image' },
  ],
  [
    'a crash loop tells how it ended',
    {
      enginePods: [
        pod(
          container({
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
            lastState: { terminated: { exitCode: 3, reason: 'Error', message: 'no weights' } },
          }),
        ),
      ],
    },
    {
      reason: 'CrashLoopBackOff',
      ready: 'False',
      message: 'pod pod: its process ended with exit code 3 (restarts: 2): no weights',
    },
  ],
  ...[
    { state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }, lastState: ownEnd },
    { state: ownEnd },
    { state: { running: {} }, lastState: ownEnd },
  ].map((states): Case => [
    `an engine that says why it cannot begin, while it is ${Object.keys(states.state).join()}`,
    { enginePods: [pod(container(states))] },
    {
      reason: 'AdapterNotApplied',
      ready: 'False',
      message: 'pod pod: vLLM applies 0 of the 14 layers. Serve another. (restarts: 2)',
    },
  ]),
  [
    'a process that was killed for memory',
    { trainerPods: [pod(container({ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }))] },
    { reason: 'OOMKilled', ready: 'False' },
  ],
  [
    'a process that was killed for memory and runs again',
    {
      trainerPods: [pod(container({ state: {}, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }))],
    },
    { reason: 'OOMKilled', ready: 'False' },
  ],
  [
    'a pod that failed because its process was killed for memory',
    {
      trainerPods: [
        pod({ ...container({ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }), phase: 'Failed' }),
      ],
    },
    { reason: 'OOMKilled', ready: 'False' },
  ],
  [
    'a first attempt to pull an image',
    { enginePods: [pod(container({ state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } }))] },
    { reason: 'ImagePullBackOff', ready: 'False' },
  ],
  [
    'an additional container that prepares, and cannot be pulled',
    {
      enginePods: [
        pod({
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'done', ready: true, restartCount: 0, state: { terminated: { exitCode: 0 } } },
            { name: 'next', ready: false, restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } },
          ],
          containerStatuses: [
            { name: 'engine', ready: false, restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } },
          ],
        }),
      ],
    },
    { reason: 'ImagePullBackOff', ready: 'False' },
  ],
  [
    'a Secret that is missing',
    {
      enginePods: [
        pod(
          container({
            state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "hub" not found' } },
          }),
        ),
      ],
    },
    { reason: 'MissingSecretOrConfig', ready: 'False', message: 'pod pod: secret "hub" not found' },
  ],
  [
    'a pod that makes room for another',
    {
      trainerPods: [
        pod(
          disrupted('PreemptionByScheduler', 'preempting to accommodate a higher priority pod'),
          'new',
          '2026-01-01T00:00:00Z',
        ),
      ],
    },
    { reason: 'Preempted', ready: 'False', message: 'pod pod: preempting to accommodate a higher priority pod' },
  ],
  [
    'a pod whose node does not answer',
    {
      trainerPods: [
        pod(
          disrupted('DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'),
          'new',
          '2026-01-01T00:00:00Z',
        ),
      ],
    },
    { reason: 'NodeFailure', ready: 'False' },
  ],
  [
    'a pod whose node shuts down',
    {
      trainerPods: [
        pod({
          ...disrupted('TerminationByKubelet', 'shutdown'),
          phase: 'Failed',
          reason: 'Terminated',
          message: 'node shutdown',
        }),
      ],
    },
    { reason: 'NodeFailure', ready: 'False', message: 'pod pod: node shutdown' },
  ],
  [
    'a pod that its node evicts',
    {
      trainerPods: [
        pod({
          ...disrupted('TerminationByKubelet', 'low on disk'),
          phase: 'Failed',
          reason: 'Evicted',
          message: 'low on disk',
        }),
      ],
    },
    { reason: 'Evicted', ready: 'False', message: 'pod pod: low on disk' },
  ],
  [
    'a pod that fits nowhere',
    { enginePods: [pod(unscheduled('0/1 nodes are available'))] },
    { reason: 'Unschedulable', ready: 'False' },
  ],
  [
    'no GPU left',
    { enginePods: [pod(unscheduled('1 Insufficient nvidia.com/gpu.'))] },
    { reason: 'InsufficientGPU', ready: 'False' },
  ],
  [
    'a trainer whose predecessors failed keeps the last reason',
    {
      trainerPods: [
        {
          ...pod({ phase: 'Running' }),
          metadata: {
            ...pod({}).metadata,
            annotations: describeFailures({ count: 4, reason: 'OutOfcpu', message: 'pod a: no room' }),
          },
        },
      ],
    },
    {
      reason: 'NotReadyYet',
      ready: 'False',
      message:
        'pod pod: is running but not ready yet; before it, 4 trainers failed one after the other, the last: OutOfcpu: pod a: no room',
    },
  ],
  [
    'pods that the API server refuses',
    { trainerPods: [], creationError: Object.assign(new Error('exceeded quota'), { reason: 'Forbidden' }) },
    { reason: 'Forbidden', ready: 'False', message: 'exceeded quota' },
  ],
]

test.each(cases)('%s', (_, { spec, ...facts }, expected) => {
  const status = describe(facts, spec)
  const condition = status.conditions?.find(({ type }) => type === 'Ready')
  expect({ reason: status.reason, ready: condition?.status, message: condition?.message }).toMatchObject(expected)
})

function describe(facts: Partial<WorkloadFacts>, spec: Partial<BaseModel['spec']> = {}) {
  const defaults: WorkloadFacts = {
    enginePods: [ready],
    deployment: undefined,
    engineHash: 'new',
    wantedEngines: 1,
    trainerPods: [ready],
    trainerHash: 'new',
    wantedTrainers: 1,
    creationError: undefined,
    downloads: new Map(),
    untrainedLayers: undefined,
    turnOf: undefined,
    now,
  }
  return describeBaseModel({ ...baseModel, spec: { ...baseModel.spec, ...spec } }, { ...defaults, ...facts })
}

const download = { doneBytes: 1_250_000_000, totalBytes: 8_000_000_000 }
const running = pod(container({ state: { running: {} } }))

test('a pod that downloads says how much of it is done', () => {
  const status = describe({ enginePods: [running], trainerPods: [], downloads: new Map([[podUid, download]]) })
  expect(status).toMatchObject({
    reason: 'Downloading',
    message: 'pod pod: has downloaded 1.250 of 8.000 GB of the base model',
    downloads: [{ pod: 'pod', ...download }],
  })
})

test.each<[string, PodStatus]>([
  ['whose container ended', container({ state: ownEnd })],
  ['that no node takes', unscheduled('0/1 nodes are available')],
])('the download of a pod %s hides no failure', (_, status) => {
  const facts = { enginePods: [pod(status)], downloads: new Map([[podUid, download]]) }
  expect(describe(facts).reason).not.toBe('Downloading')
})

test('the status lists at most sixteen downloads', () => {
  const pods = Array.from({ length: 20 }, (_, index) => ({
    ...running,
    metadata: { ...running.metadata, uid: String(index) },
  }))
  const downloads = new Map(pods.map(({ metadata }) => [metadata.uid, download]))
  expect(describe({ trainerPods: pods, downloads }).downloads).toHaveLength(16)
})

test.each<[string, Partial<WorkloadFacts>, string, object | undefined]>([
  ['layers are not known yet', {}, 'LayersTrained', undefined],
  [
    'all layers are trained',
    { untrainedLayers: { layers: [], share: 0 } },
    'LayersTrained',
    { status: 'True', reason: 'AllLayersTrained' },
  ],
  [
    'layers are left out',
    { untrainedLayers: { layers: ['experts', 'gate'], share: 0.953 } },
    'LayersTrained',
    {
      status: 'False',
      reason: 'LayersNotTrained',
      message: 'These layers of the text decoder get no adapter (95.3 % of its weights): experts, gate.',
    },
  ],
  ['engines are up to date', {}, 'EnginesUpToDate', { status: 'True' }],
  [
    'another base model replaces its engines first',
    { turnOf: 'other' },
    'EnginesUpToDate',
    { status: 'False', reason: 'WaitingForBaseModel', message: expect.stringContaining('of the BaseModel other:') },
  ],
])('%s', (_, facts, type, expected) => {
  const found = describe(facts).conditions?.find((condition) => condition.type === type)
  if (expected) expect(found).toMatchObject(expected)
  else expect(found).toBeUndefined()
})
