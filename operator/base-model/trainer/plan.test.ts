import { expect, test } from 'vitest'
import { labels } from '../../../crds/names.ts'
import type { Pod } from '../../../lib/kube/objects.ts'
import { describeFailures } from './failed-trainers.ts'
import { planTrainers, type TrainerAction, type TrainerFacts } from './plan.ts'

const now = new Date('2026-01-01T00:10:00Z')
const [old, young] = ['2026-01-01T00:00:00Z', '2026-01-01T00:09:59Z']

function pod(name: string, more: { hash?: string; phase?: string; deleted?: string } = {}): Pod {
  const { hash = 'new', phase = 'Running', deleted } = more
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { [labels.specHash]: hash },
      ...(deleted && { deletionTimestamp: deleted }),
    },
    status: { phase },
  }
}

const create = (n: number): TrainerAction => ({
  do: 'create',
  name: `b-trainer-new-${n}`,
  reason: 'fewer trainers than wanted',
})
const remove = (name: string, reason: string): TrainerAction => ({ do: 'delete', name, uid: `uid-${name}`, reason })
/** A trainer that takes the place of a dead one. */
const replace = (n: number, count: number, failed: string): TrainerAction => ({
  do: 'create',
  name: `b-trainer-new-${n}`,
  reason: 'fewer trainers than wanted',
  failures: { count, reason: 'PodFailed', message: `pod ${failed}: failed` },
})
const stale = 'its specification is out of date'

const cases: [string, Partial<TrainerFacts>, TrainerAction[], string[]?][] = [
  ['none yet: all are made', { wanted: 2 }, [create(0), create(1)]],
  ['all there: nothing to do', { pods: [pod('b-trainer-new-0')] }, []],
  [
    'none wanted: an idle one goes',
    { wanted: 0, pods: [pod('x')] },
    [remove('x', 'there are more trainers than wanted')],
    ['uid-x'],
  ],
  [
    'none wanted: a busy one stays, and gets no more',
    { wanted: 0, pods: [pod('x')], busyPods: new Set(['uid-x']) },
    [],
    ['uid-x'],
  ],
  [
    'idle of an old specification: it goes first, the new one comes later',
    { pods: [pod('x', { hash: 'old' })] },
    [remove('x', stale)],
    ['uid-x'],
  ],
  [
    'busy of an old specification: it may finish, and gets no more',
    { pods: [pod('x', { hash: 'old' })], busyPods: new Set(['uid-x']) },
    [],
    ['uid-x'],
  ],
  ['terminating: its place is taken until it is gone', { pods: [pod('x', { deleted: young })] }, [], ['uid-x']],
  [
    'terminating on a node that died: its place is free',
    { pods: [pod('x', { deleted: old })] },
    [create(0)],
    ['uid-x'],
  ],
  [
    'a name that still exists is not used again',
    { pods: [pod('b-trainer-new-0', { deleted: old })] },
    [create(1)],
    ['uid-b-trainer-new-0'],
  ],
  ['failed: another takes its place', { pods: [pod('x', { phase: 'Failed' })] }, [replace(0, 1, 'x')], ['uid-x']],
  [
    'failed while it trained: another takes its place all the same',
    { pods: [pod('x', { phase: 'Failed' })], busyPods: new Set(['uid-x']) },
    [replace(0, 1, 'x')],
    ['uid-x'],
  ],
  [
    'failed, of an old specification: the new one has not failed',
    { pods: [pod('x', { phase: 'Failed', hash: 'old' })] },
    [remove('x', 'the pod is Failed'), create(0)],
    ['uid-x'],
  ],
  [
    'failed, and none wanted: it goes',
    { wanted: 0, pods: [pod('x', { phase: 'Failed' })] },
    [remove('x', 'the pod is Failed')],
    ['uid-x'],
  ],
  [
    'failed beside its replacement: it goes',
    { pods: [pod('x', { phase: 'Failed' }), pod('b-trainer-new-1')] },
    [remove('x', 'the pod is Failed')],
    ['uid-x'],
  ],
  [
    'too many: the last goes',
    { pods: [pod('a'), pod('b')] },
    [remove('b', 'there are more trainers than wanted')],
    ['uid-b'],
  ],
  [
    'too many: an idle one goes before a busy one',
    { pods: [pod('a'), pod('b')], busyPods: new Set(['uid-b']) },
    [remove('a', 'there are more trainers than wanted')],
    ['uid-a'],
  ],
  [
    'too many, all busy: the last gets no more',
    { pods: [pod('a'), pod('b')], busyPods: new Set(['uid-a', 'uid-b']) },
    [],
    ['uid-b'],
  ],
]

test.each(cases)('%s', (_, facts, actions, draining = []) => {
  const defaults = { baseModelName: 'b', pods: [], busyPods: new Set<string>(), wanted: 1, hash: 'new', now }
  expect(planTrainers({ ...defaults, ...facts })).toEqual({ actions, draining })
})

/** A pod that was created this long ago, after `earlier` failures, and died at once. */
function failAtOnce(agoMs: number, earlier: number): Pod {
  const dead = pod('b-trainer-new-0', { phase: 'Failed' })
  const created = new Date(now.getTime() - agoMs).toISOString()
  const annotations = describeFailures({ count: earlier, reason: 'OutOfcpu', message: 'no room' })
  return { ...dead, metadata: { ...dead.metadata, creationTimestamp: created, ...(earlier > 0 && { annotations }) } }
}

test.each([
  [0, 1_000],
  [1, 2_000],
  [5, 32_000],
  [8, 256_000],
  [9, 300_000],
  [1_000, 300_000],
])('after %i failures, a trainer that fails at once comes back after %i ms', (earlier, waitMs) => {
  const facts = { baseModelName: 'b', busyPods: new Set<string>(), wanted: 1, hash: 'new', now }
  const early = planTrainers({ ...facts, pods: [failAtOnce(waitMs - 1_000, earlier)] })
  expect(early).toMatchObject({ actions: [], requeueAfterMs: 1_000 })
  const due = planTrainers({ ...facts, pods: [failAtOnce(waitMs, earlier)] })
  expect(due.actions).toEqual([replace(1, earlier + 1, 'b-trainer-new-0')])
})

test('a trainer that lived for long and then fails comes back after a second', () => {
  const dead = failAtOnce(3_600_000, 7)
  const finishedAt = new Date(now.getTime() - 1_000).toISOString()
  const state = { terminated: { exitCode: 1, finishedAt } }
  dead.status = { ...dead.status, containerStatuses: [{ name: 'trainer', ready: false, restartCount: 0, state }] }
  const facts = { baseModelName: 'b', busyPods: new Set<string>(), wanted: 1, hash: 'new', now }
  const message = 'pod b-trainer-new-0: its process ended with exit code 1 (restarts: 0)'
  const failures = { count: 1, reason: 'ContainerEnded', message }
  const again = { ...replace(1, 1, 'b-trainer-new-0'), failures }
  expect(planTrainers({ ...facts, pods: [dead] }).actions).toEqual([again])
})

test('one dead trainer does not keep the places of others empty', () => {
  const pods = [failAtOnce(1_000, 5)]
  const facts = { baseModelName: 'b', pods, busyPods: new Set<string>(), wanted: 3, hash: 'new', now }
  expect(planTrainers(facts).actions).toEqual([create(1), create(2)])
})
