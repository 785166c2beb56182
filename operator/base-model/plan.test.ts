import { expect, test } from 'vitest'
import { labels } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'
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
  ['failed: it goes', { pods: [pod('x', { phase: 'Failed' })] }, [remove('x', 'the pod is Failed')], ['uid-x']],
  [
    'failed while it trained: it goes all the same',
    { pods: [pod('x', { phase: 'Failed' })], busyPods: new Set(['uid-x']) },
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
  const usual = { baseModelName: 'b', pods: [], busyPods: new Set<string>(), wanted: 1, hash: 'new', now }
  expect(planTrainers({ ...usual, ...facts })).toEqual({ actions, draining })
})
