import { describe, expect, test } from 'vitest'
import type { Pod } from '../objects.ts'
import type { Run } from '../container/run.ts'
import { buildPodStatus, type ContainerView, type PodView } from './status.ts'

const now = '2026-01-01T00:01:00Z'
const started = new Date('2026-01-01T00:00:10.400Z')
const finishedAt = new Date('2026-01-01T00:00:20.900Z')

const run = (number: number, rest: Partial<Run> = {}): Run => ({
  number,
  folder: '/f',
  startedAt: started,
  crashes: 0,
  interrupted: false,
  ...rest,
})

const ended = (number: number, code: number, rest: Partial<Run> = {}) =>
  run(number, { exit: { code, finishedAt }, ...rest })

const container = (rest: Partial<ContainerView> = {}): ContainerView => ({
  spec: { name: 'a', image: 'i' },
  runs: [],
  started: false,
  ready: false,
  ...rest,
})

const running = (rest: Partial<ContainerView> = {}) =>
  container({ runs: [run(0)], started: true, ready: true, ...rest })

const pod = ({ metadata = {}, spec = {}, status = {} }: Record<string, object> = {}) =>
  ({ metadata: { uid: 'u', ...metadata }, spec, status }) as unknown as Pod

const build = (view: Partial<PodView>, of = pod()) =>
  buildPodStatus(of, { podIP: '127.5.0.2', startTime: now, init: [], main: [], ending: false, ...view }, now)

test('the full status of a running pod', () => {
  expect(build({ main: [running({ runs: [run(1), ended(0, 137)] })] })).toEqual({
    phase: 'Running',
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: now,
    })),
    hostIP: '127.0.0.1',
    hostIPs: [{ ip: '127.0.0.1' }],
    podIP: '127.5.0.2',
    podIPs: [{ ip: '127.5.0.2' }],
    startTime: now,
    containerStatuses: [
      {
        name: 'a',
        image: 'i',
        imageID: 'i',
        containerID: 'local://u/a/1',
        restartCount: 1,
        started: true,
        ready: true,
        state: { running: { startedAt: '2026-01-01T00:00:10Z' } },
        lastState: {
          terminated: {
            exitCode: 137,
            reason: 'Error',
            startedAt: '2026-01-01T00:00:10Z',
            finishedAt: '2026-01-01T00:00:20Z',
            containerID: 'local://u/a/0',
          },
        },
      },
    ],
  })
})

describe('phase', () => {
  const never = pod({ spec: { restartPolicy: 'Never' } })
  const onFailure = pod({ spec: { restartPolicy: 'OnFailure' } })
  const deleted = pod({ metadata: { deletionTimestamp: now } })
  const done = container({ runs: [ended(0, 0)] })
  const failed = container({ runs: [ended(0, 3)] })
  const interrupted = container({ runs: [ended(0, 143, { interrupted: true })] })
  const failure = { reason: 'UnsupportedByLocalNode', message: 'hostNetwork' }

  test.each<[string, Pod, Partial<PodView>, string]>([
    ['nothing has started', pod(), { main: [container()] }, 'Pending'],
    ['one of two containers has started', pod(), { main: [running(), container()] }, 'Pending'],
    ['a crashed container is restarted', pod(), { main: [failed] }, 'Running'],
    ['all succeeded and are not restarted', never, { main: [done, done] }, 'Succeeded'],
    ['one failed and is not restarted', never, { main: [done, failed] }, 'Failed'],
    ['one is still running', never, { main: [failed, running()] }, 'Running'],
    ['a failed container is restarted', onFailure, { main: [failed] }, 'Running'],
    ['stopped with its node, it continues', never, { main: [interrupted] }, 'Running'],
    ['an init container failed permanently', never, { init: [failed], main: [container()] }, 'Failed'],
    ['an init container is tried again', pod(), { init: [failed], main: [container()] }, 'Pending'],
    ['deleted, and all have ended', deleted, { main: [done] }, 'Succeeded'],
    ['deleted, and one is still running', deleted, { main: [running()] }, 'Running'],
    ['the node does not support it', pod(), { main: [container()], failure }, 'Failed'],
  ])('%s', (_name, of, view, phase) => {
    expect(build(view, of).phase).toBe(phase)
  })
})

describe('conditions', () => {
  const summarize = (view: Partial<PodView>, of?: Pod) =>
    build(view, of).conditions?.map(({ type, status, reason }) => [type, status, reason].filter(Boolean).join(' '))

  test('a container that is not ready', () => {
    expect(summarize({ main: [running({ ready: false })] })).toEqual([
      'PodScheduled True',
      'Initialized True',
      'ContainersReady False ContainersNotReady',
      'Ready False ContainersNotReady',
    ])
  })

  test('an init container that has not ended', () => {
    expect(summarize({ init: [running()], main: [container()] })?.[1]).toBe(
      'Initialized False ContainersNotInitialized',
    )
  })

  test('a pod that is ending is not ready', () => {
    expect(summarize({ main: [running()], ending: true })?.[3]).toBe('Ready False ContainersNotReady')
  })

  test('a completed pod', () => {
    const never = pod({ spec: { restartPolicy: 'Never' } })
    expect(summarize({ main: [container({ runs: [ended(0, 0)] })] }, never)?.[3]).toBe('Ready False PodCompleted')
  })

  test('a transition time changes only with its status, and foreign conditions stay', () => {
    const before = [
      { type: 'Custom', status: 'True' },
      { type: 'Initialized', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' },
      { type: 'Ready', status: 'False', lastTransitionTime: '2025-01-01T00:00:00Z' },
    ]
    const found = build({ main: [running()] }, pod({ status: { conditions: before } })).conditions ?? []
    const times = Object.fromEntries(found.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]))
    expect(times).toMatchObject({ Custom: undefined, Initialized: '2025-01-01T00:00:00Z', Ready: now })
  })
})

test('a waiting container has the reason, and the end of its last run', () => {
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 2s' }
  const [status] = build({ main: [container({ runs: [ended(2, 1), ended(1, 1)], waiting })] }).containerStatuses ?? []
  expect(status).toMatchObject({
    state: { waiting },
    lastState: { terminated: { exitCode: 1, containerID: 'local://u/a/2' } },
    restartCount: 2,
    ready: false,
  })
})

test('the containers of an unsupported pod have the reason', () => {
  const failure = { reason: 'UnsupportedByLocalNode', message: 'hostNetwork' }
  const status = build({ main: [container()], failure })
  expect(status).toMatchObject({ ...failure, containerStatuses: [{ state: { waiting: failure } }] })
})
