import { describe, expect, test } from 'vitest'
import { makeJob } from '../../../test/support/job-objects.ts'
import type { Job, Pod } from '../../../lib/kube/objects.ts'
import { planDedicated, type DedicatedFacts } from './plan.ts'

const now = new Date('2026-01-01T01:00:00Z')

const labels = { 'trainyard.dev/job': 'j1', 'trainyard.dev/spec-hash': 'new' }
const job = (changes: Partial<Job> = {}): Job => ({ metadata: { name: 'job-1', uid: 'u1', labels }, ...changes })
const ended = (secondsAgo = 3600, type = 'Failed') => {
  const lastTransitionTime = new Date(now.getTime() - secondsAgo * 1000).toISOString()
  return job({ status: { conditions: [{ type, status: 'True', lastTransitionTime }] } })
}
const deleted = job({ metadata: { ...job().metadata, deletionTimestamp: now.toISOString() } })
const pod = (status: Pod['status'] = { phase: 'Running' }): Pod => ({ metadata: { name: 'pod', uid: 'p1' }, status })
const failedPod = (reason = 'Error') =>
  pod({
    phase: 'Failed',
    containerStatuses: [
      {
        name: 'trainer',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 1, reason, finishedAt: '2026-01-01T00:00:00Z' } },
      },
    ],
  })

const plan = (changes: Partial<DedicatedFacts> & { row?: Parameters<typeof makeJob>[0] } = {}) => {
  const { row, ...facts } = changes
  return planDedicated({
    baseModel: { metadata: {}, spec: { names: ['tiny'], source: { path: 'models/none' } } },
    hash: 'new',
    jobs: [],
    pods: [],
    knownPods: new Set(),
    now,
    ...facts,
    job: makeJob({ mode: 'Dedicated', ...row }),
  })
}

describe('a job that waits', () => {
  test('gets a Job when it is the first of its model and has a base model', () => {
    expect(plan()).toEqual({ do: 'create' })
    expect(plan({ row: { ahead: 1 } })).toEqual({ do: 'none' })
    expect(plan({ row: { block: 'entity' } })).toEqual({ do: 'none', requeueAfterMs: 5_000 })
    expect(plan({ baseModel: undefined })).toEqual({ do: 'none' })
  })

  test('attempts never overlap: while a Job or a pod is left, also of an attempt that ended, there is no other', () => {
    expect(plan({ jobs: [job()] })).toEqual({ do: 'none' })
    expect(plan({ pods: [pod()] })).toEqual({ do: 'none' })
    expect(plan({ jobs: [deleted], pods: [pod()] })).toEqual({ do: 'none' })
  })

  test('loses a failed Job after a wait that grows with its attempts, and gets the next one after that', () => {
    expect(plan({ row: { attempt: 3 }, jobs: [ended(1)] })).toEqual({ do: 'none', requeueAfterMs: 3_000 })
    expect(plan({ row: { attempt: 20 }, jobs: [ended(200)] })).toEqual({ do: 'none', requeueAfterMs: 100_000 })
    expect(plan({ row: { attempt: 3 }, jobs: [ended(5)] })).toMatchObject({ do: 'delete', name: 'job-1', uid: 'u1' })
  })

  test('keeps the pod of a lost attempt until it is decided whether that counts', () => {
    expect(plan({ row: { attempt: 1, isUndecided: true }, jobs: [ended()], pods: [failedPod()] })).toEqual({
      do: 'none',
    })
  })

  test.each([
    ['a crash counts', 'Error', { counts: true, reason: 'TrainerLost' }],
    ['too little memory counts', 'OOMKilled', { counts: true, reason: 'OOMKilled' }],
  ])('a pod that failed before its claim is an attempt: %s', (_, reason, verdict) => {
    const jobs = [ended()]
    const pods = [failedPod(reason)]
    expect(plan({ jobs, pods })).toMatchObject({ do: 'recordFailedStart', podUid: 'p1', verdict })
    expect(plan({ jobs, pods, knownPods: new Set(['p1']) })).toMatchObject({ do: 'delete' })
  })

  test('a pod that its node has ended is an attempt that does not count', () => {
    const evicted = pod({ phase: 'Failed', reason: 'Evicted', message: 'no disk' })
    expect(plan({ jobs: [ended()], pods: [evicted] })).toMatchObject({ verdict: { counts: false, reason: 'Evicted' } })
  })

  test('gets another Job when its specification changes before a container has run', () => {
    const old = job({ metadata: { ...job().metadata, labels: { ...labels, 'trainyard.dev/spec-hash': 'old' } } })
    expect(plan({ jobs: [old], pods: [pod({ phase: 'Pending' })] })).toMatchObject({ do: 'delete' })
    expect(plan({ jobs: [old], pods: [pod()] })).toEqual({ do: 'none' })
    expect(plan({ jobs: [old], row: { state: 'Running' } })).toEqual({ do: 'none' })
  })

  test('a Job of an earlier job of this name goes first', () => {
    const foreign = job({ metadata: { ...job().metadata, labels: { 'trainyard.dev/job': 'other' } } })
    expect(plan({ jobs: [foreign] })).toMatchObject({ do: 'delete', name: 'job-1' })
  })
})

describe('suspension', () => {
  test.each(['Queued', 'Starting', 'Running'] as const)('deletes the Job of a job in %s', (state) => {
    expect(plan({ row: { state, suspend: true }, jobs: [job()], pods: [pod()] })).toMatchObject({ do: 'delete' })
    expect(plan({ row: { state, suspend: true }, jobs: [deleted], pods: [pod()] })).toEqual({ do: 'none' })
  })

  test('is complete when nothing is left and the attempt has ended, once', () => {
    expect(plan({ row: { suspend: true } })).toEqual({ do: 'suspend' })
    expect(plan({ row: { suspend: true, state: 'Running' } })).toEqual({ do: 'none' })
    expect(plan({ row: { suspend: true }, pods: [pod()] })).toEqual({ do: 'none' })
    expect(plan({ row: { suspend: true, suspendedAt: now } })).toEqual({ do: 'none' })
  })

  test('ends with a resumption, which is recorded before there are pods', () => {
    expect(plan({ row: { suspendedAt: now } })).toEqual({ do: 'resume' })
  })

  test('does not stop a job that is trained', () => {
    expect(plan({ row: { suspend: true, state: 'Publishing' }, jobs: [job()] })).toEqual({ do: 'none' })
  })
})

test.each(['Succeeded', 'Failed', 'Cancelled'] as const)(
  'a job that is %s has no pods, and never gets one',
  (state) => {
    expect(plan({ row: { state }, jobs: [job()], pods: [pod()] })).toMatchObject({ do: 'delete' })
    expect(plan({ row: { state }, jobs: [deleted], pods: [pod()] })).toEqual({ do: 'none' })
    expect(plan({ row: { state } })).toEqual({ do: 'none' })
    expect(plan({ row: { state, suspend: true } })).toEqual({ do: 'none' })
  },
)

test.each(['Starting', 'Running', 'Publishing'] as const)('a job in %s keeps what it has', (state) => {
  expect(plan({ row: { state }, jobs: [job()], pods: [pod()] })).toEqual({ do: 'none' })
  expect(plan({ row: { state }, jobs: [ended()], pods: [failedPod()] })).toEqual({ do: 'none' })
})
