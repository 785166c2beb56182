import { expect, test } from 'vitest'
import { annotations } from '../../../crds/names.ts'
import type { Pod, PodStatus } from '../../../lib/kube/objects.ts'
import { findTrainerTrouble } from './trouble.ts'

const makePod = (status: PodStatus, notes: Record<string, string> = {}): Pod => ({
  metadata: { name: 'trainer', creationTimestamp: '2026-01-01T00:00:00Z', annotations: notes },
  status,
})
const waiting = (reason: string) =>
  makePod({
    phase: 'Pending',
    containerStatuses: [{ name: 'trainer', restartCount: 0, state: { waiting: { reason } } }],
  } as PodStatus)
const unschedulable = makePod({
  phase: 'Pending',
  conditions: [
    { type: 'PodScheduled', status: 'False', message: '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.' },
  ],
})
const ready = makePod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
const starting = makePod({ phase: 'Pending' })
const again = makePod({ phase: 'Pending' }, { [annotations.failures]: '3', [annotations.failureReason]: 'OOMKilled' })

test.each<[string, Pod[], string | null]>([
  ['without pods, they were not made yet', [], null],
  ['one that only needs time', [starting, waiting('ContainerCreating')], null],
  ['one without a GPU', [starting, unschedulable], 'InsufficientGPU'],
  ['one whose image cannot be fetched', [waiting('ErrImagePull')], 'ImagePullBackOff'],
  ['one that starts again after failures', [again], 'OOMKilled'],
  ['one that runs beside one without a GPU', [unschedulable, ready], null],
])('%s', (_, pods, reason) => {
  expect(findTrainerTrouble(pods)).toBe(reason)
})
