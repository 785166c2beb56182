import { expect, test } from 'vitest'
import type { ContainerStatus, Pod, PodStatus } from '../../lib/kube/objects.ts'
import { explainLostTrainer } from './lost-trainer.ts'

const now = new Date('2026-01-01T12:00:00Z')
const ready = { type: 'Ready', status: 'True' }
const target = (reason: string) => ({ type: 'DisruptionTarget', status: 'True', reason, message: 'it is ended' })

function podWith(status: PodStatus, metadata: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name: 't', uid: 'u', ...metadata }, status: { phase: 'Running', ...status } }
}

function container(finishedAt: string, reason = 'Error'): ContainerStatus {
  const lastState = { terminated: { reason, exitCode: 137, finishedAt } }
  return { name: 'trainer', ready: true, restartCount: 1, state: { running: {} }, lastState }
}

const terminating = { deletionTimestamp: '2026-01-01T11:59:59Z' }

test.each<[string, Pod | undefined, string]>([
  ['a pod that is gone', undefined, 'PodDeleted'],
  ['a pod that is being deleted', podWith({ conditions: [ready] }, terminating), 'PodDeleted'],
  ['a preempted pod', podWith({ conditions: [target('PreemptionByScheduler')] }, terminating), 'Preempted'],
  ['a pod of a lost node', podWith({ conditions: [target('DeletionByTaintManager')] }, terminating), 'NodeFailure'],
  ['a drained pod', podWith({ conditions: [target('EvictionByEvictionAPI')] }, terminating), 'Evicted'],
  ['a pod that its kubelet has evicted', podWith({ phase: 'Failed', reason: 'Evicted' }), 'Evicted'],
  ['a pod whose node is silent', podWith({ conditions: [{ type: 'Ready', status: 'False' }] }), 'NodeFailure'],
])('%s costs no try', (_name, pod, reason) => {
  expect(explainLostTrainer(pod, 1, now)).toMatchObject({ counts: false, reason })
})

test.each<[string, Pod, number, string]>([
  [
    'had too little memory',
    podWith({ containerStatuses: [container('2026-01-01T11:59:40Z', 'OOMKilled')] }),
    1,
    'OOMKilled',
  ],
  [
    'was killed',
    podWith({ conditions: [ready], containerStatuses: [container('2026-01-01T11:59:40Z')] }),
    1,
    'TrainerLost',
  ],
  ['hangs', podWith({ conditions: [ready] }), 80, 'TrainerLost'],
])('a trainer that %s costs a try', (_name, pod, lostSeconds, reason) => {
  expect(explainLostTrainer(pod, lostSeconds, now)).toMatchObject({ counts: true, reason })
})

test('nothing is known of a pod that runs, while its node may be lost', () => {
  const earlier = podWith({ conditions: [ready], containerStatuses: [container('2026-01-01T09:00:00Z', 'OOMKilled')] })
  expect(explainLostTrainer(earlier, 1, now)).toBeUndefined()
})
