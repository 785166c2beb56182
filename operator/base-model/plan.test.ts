import { expect, test } from 'vitest'
import { labels } from '../../crds/names.ts'
import type { Pod } from '../kube/objects.ts'
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
const stale = 'its specification is not the current one'

const cases: [string, Partial<TrainerFacts>, TrainerAction[]][] = [
  ['none yet: all are made', { wanted: 2 }, [create(0), create(1)]],
  ['all there: nothing to do', { pods: [pod('b-trainer-new-0')] }, []],
  [
    'none wanted: an idle one goes',
    { wanted: 0, pods: [pod('x')] },
    [remove('x', 'there are more trainers than wanted')],
  ],
  ['none wanted: a busy one stays', { wanted: 0, pods: [pod('x')], busyPods: new Set(['uid-x']) }, []],
  [
    'idle of an old specification: it goes first, the new one comes later',
    { pods: [pod('x', { hash: 'old' })] },
    [remove('x', stale)],
  ],
  [
    'busy of an old specification: it may finish',
    { pods: [pod('x', { hash: 'old' })], busyPods: new Set(['uid-x']) },
    [],
  ],
  ['terminating: its place is taken until it is gone', { pods: [pod('x', { deleted: young })] }, []],
  ['terminating on a node that died: its place is free', { pods: [pod('x', { deleted: old })] }, [create(0)]],
  ['a name that still exists is not used again', { pods: [pod('b-trainer-new-0', { deleted: old })] }, [create(1)]],
  ['failed: it goes', { pods: [pod('x', { phase: 'Failed' })] }, [remove('x', 'the pod is Failed')]],
  ['too many: the last goes', { pods: [pod('a'), pod('b')] }, [remove('b', 'there are more trainers than wanted')]],
]

test.each(cases)('%s', (_, facts, expected) => {
  const usual = { baseModelName: 'b', pods: [], busyPods: new Set<string>(), wanted: 1, hash: 'new', now }
  expect(planTrainers({ ...usual, ...facts })).toEqual(expected)
})
