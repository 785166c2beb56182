import { describe, expect, test } from 'vitest'
import { makeJob, makeResource } from '../../../test/support/job-objects.ts'
import type { OperatorJob } from '../../../db/jobs/resources.ts'
import { describeJob, type JobContext } from '../status.ts'
import type { OwnPods } from './reconcile.ts'
import { findWaitingReason } from './status.ts'

const now = new Date('2026-01-01T00:00:00Z')
const base: OwnPods = { isGone: false, isHeld: false, podName: 'pod', notReady: undefined }

function describeStatus(row: Partial<OperatorJob>, ownPods: Partial<OwnPods> = {}) {
  const context: JobContext = {
    wait: undefined,
    alreadyRan: false,
    trainers: { wanted: 0, ready: 0, notReady: undefined },
    holderName: 'pod',
    publication: undefined,
    ownPods: { ...base, ...ownPods },
    now,
  }
  const status = describeJob(makeResource({ mode: 'Dedicated' }), makeJob({ mode: 'Dedicated', ...row }), context)
  const holds = Object.fromEntries(status.conditions?.map(({ type, status: value }) => [type, value]) ?? [])
  return { ...status, holds }
}

describe('why it waits', () => {
  test.each<[string, Partial<OwnPods>, string]>([
    ['there is no pod yet', { isGone: true, podName: undefined }, 'WaitingForPod'],
    ['its pod only needs time', { notReady: { reason: 'PodPending', message: 'starts' } }, 'WaitingForPod'],
    ['no node has the GPUs', { notReady: { reason: 'InsufficientGPU', message: '0/3 nodes' } }, 'InsufficientGPU'],
    [
      'a Secret is missing',
      { notReady: { reason: 'MissingSecretOrConfig', message: 'no s' } },
      'MissingSecretOrConfig',
    ],
    ['the model is downloaded', { notReady: { reason: 'Downloading', message: '1 of 2 GB' } }, 'Downloading'],
    ['Kueue has not admitted it', { isHeld: true, podName: undefined }, 'WaitingForQuota'],
  ])('%s', (_, ownPods, reason) => {
    expect(describeStatus({ queueName: 'gpus' }, ownPods)).toMatchObject({ phase: 'Queued', reason })
    const recorded = (row: Partial<OperatorJob>) => findWaitingReason(makeJob(row), { ...base, ...ownPods })
    expect(recorded({})).toBe(reason === 'WaitingForPod' ? null : reason)
    for (const row of [{ state: 'Starting' }, { suspend: true }] as const) expect(recorded(row)).toBeNull()
  })
})

test('a job that is to be suspended is Suspending until its pods are gone, whatever its row says', () => {
  for (const state of ['Queued', 'Starting', 'Running'] as const) {
    const { phase, holds } = describeStatus({ state, suspend: true })
    expect([phase, holds['Suspended']]).toEqual(['Suspending', 'False'])
  }
  const { phase, message, holds } = describeStatus(
    { suspend: true, suspendedAt: now, progressStep: 7 },
    { isGone: true, podName: undefined },
  )
  expect([phase, holds['Suspended'], holds['PodsReady']]).toEqual(['Suspended', 'True', 'False'])
  expect(message).toContain('gradient step 7')
})

test('the quota is reserved when Kueue has admitted the Job', () => {
  expect(describeStatus({}).holds).not.toHaveProperty('QuotaReserved')
  expect(describeStatus({ queueName: 'gpus' }).holds['QuotaReserved']).toBe('True')
  expect(describeStatus({ queueName: 'gpus' }, { isHeld: true }).holds['QuotaReserved']).toBe('False')
})

test.each(['Succeeded', 'Failed', 'Cancelled'] as const)('%s is final for kubectl when the pods are gone', (state) => {
  const checkpoint = { id: 'c', step: 1, uri: 'artifact:///checkpoints/c', digest: 'ab' }
  const early = describeStatus({ state, checkpoint })
  expect(early).toMatchObject({ phase: state, holds: { Complete: 'False', Failed: 'False', Finished: 'False' } })
  const { holds } = describeStatus({ state, checkpoint }, { isGone: true, podName: undefined })
  const isComplete = state === 'Succeeded'
  expect(holds).toMatchObject({
    Complete: isComplete ? 'True' : 'False',
    Failed: isComplete ? 'False' : 'True',
    Finished: 'True',
  })
})
