import { expect, test } from 'vitest'
import type { Holders } from '../../../db/jobs/holders.ts'
import type { QueueBlock } from '../../../db/jobs/queue-blocks.ts'
import { describeWaiting } from './waiting.ts'

const nobody = { ofModel: null, training: 0, own: null, trainerTrouble: null }
const queue = { ahead: 0, firstAhead: null, position: 2, hasBaseModel: true, block: null as QueueBlock | null }
const job = { state: 'Queued', mode: 'Warm', queue, waitingReason: null, queueName: null, progressStep: 0 } as const
const describe = (changes: Partial<typeof queue>, holders: Partial<Holders> = {}) =>
  describeWaiting({ ...job, queue: { ...queue, ...changes } }, { ...nobody, ...holders })

test('a job that does not wait has no reason', () => {
  expect(describeWaiting({ ...job, state: 'Running', queue: null }, nobody)).toBeNull()
})

test('a job that is not queued yet waits for the operator', () => {
  const pending = describeWaiting({ ...job, state: 'Pending', queue: null }, nobody)
  expect(pending).toMatchObject({ reason: 'WaitingForOperator', position: null, ahead: null })
})

test('jobs of its model before it are counted, and the first of them holds it', () => {
  const holder = { id: 'job', state: 'Running' as const }
  expect(describe({ ahead: 2 }, { ofModel: holder })).toEqual({
    reason: 'WaitingForModel',
    position: 3,
    ahead: 2,
    sentence:
      'A model is trained by one job at a time, and 2 jobs of its model are before it, the first of which is ' +
      'Running. It begins when they have ended.',
    holder: { job_id: 'job', state: 'Running' },
  })
  expect(describe({ ahead: 1 }, { ofModel: holder })?.sentence).toContain('is before it, which is Running. It begins')
  const suspended = describe({ ahead: 1 }, { ofModel: { id: 'job', state: 'Suspended' } })
  expect(suspended?.sentence).toContain(
    'which is Suspended. It begins when that job has ended: resume or cancel the suspended job.',
  )
  expect(suspended?.holder?.state).toBe('Suspended')
})

test.each<[Partial<Holders>, string, string | null]>([
  [{}, 'it begins when one has started', null],
  [{ training: 1 }, 'have 1 job, all of other entities', null],
  [{ training: 3, own: { id: 'own', state: 'Running' } }, 'have 3 jobs, at least one of them of your entity', 'own'],
])('for a trainer it has a position, and hears of other entities only how many: %j', (holders, words, id) => {
  const waiting = describe({}, holders)
  expect(waiting).toMatchObject({ reason: 'WaitingForTrainer', position: 2, ahead: 1 })
  expect([waiting?.sentence.includes(words), waiting?.holder?.job_id ?? null]).toEqual([true, id])
})

test.each([
  ['InsufficientGPU', 'no node of the cluster has a free GPU'],
  ['DownloadFailed', 'an administrator sees more'],
])('trainers that cannot start are named with what they lack: %s', (trainerTrouble, words) => {
  const waiting = describe({}, { trainerTrouble })
  expect(waiting).toMatchObject({ reason: trainerTrouble, position: 2, ahead: 1, holder: null })
  expect(waiting?.sentence).toContain(`No trainer can start (${trainerTrouble}): ${words}`)
})

test('without a base model it waits for an administrator', () => {
  expect(describe({ hasBaseModel: false })).toMatchObject({ reason: 'BaseModelNotFound', holder: null })
})

test.each([
  ['all', 'Paused', /^Paused by the administrator, like all jobs that wait\. It begins after/],
  ['administrator', 'Paused', /^Paused by the administrator, like all waiting jobs of its entity\. It begins/],
  ['entity', 'Paused', /^Paused by an admin of its entity.*\(PUT \/v1\/preview\/limits\/paused\)/],
  ['gpu_seconds', 'GpuSecondsUsed', /gpu_seconds_per_day\)\. It begins at \d{4}-\d\d-\d\dT00:00:00Z or later/],
] as const)('what is not claimed says why, also behind other jobs of its model: %s', (block, reason, words) => {
  for (const ahead of [0, 3]) {
    expect(describe({ block, ahead })).toMatchObject({ reason, sentence: expect.stringMatching(words), holder: null })
  }
})

test('a job with pods of its own waits for the cluster, and no trainer holds it', () => {
  const own = { id: 'own', state: 'Running' as const }
  const waiting = describeWaiting({ ...job, mode: 'Dedicated' }, { ...nobody, training: 1, own })
  expect(waiting).toMatchObject({ reason: 'WaitingForPod', position: 2, holder: null })
})

test.each([
  ['InsufficientGPU', 'Its pod cannot start (InsufficientGPU): no node of the cluster has a free GPU for it.'],
  [
    'StrangeFailure',
    'Its pod cannot start (StrangeFailure): an administrator sees more in the status of its resource.',
  ],
  ['Downloading', 'Its pod downloads the base model. It begins when that is done.'],
  ['WaitingForQuota', 'It begins when Kueue admits it from the queue gpus.'],
])('a job whose pods need more than time says what: %s', (waitingReason, sentence) => {
  const own = { ...job, mode: 'Dedicated', waitingReason, queueName: 'gpus' } as const
  expect(describeWaiting(own, nobody)).toMatchObject({ reason: waitingReason, sentence, position: 2 })
  // What keeps it before its turn comes first.
  expect(describeWaiting({ ...own, queue: { ...queue, ahead: 1 } }, nobody)?.reason).toBe('WaitingForModel')
  expect(describeWaiting({ ...own, queue: { ...queue, block: 'all' } }, nobody)?.reason).toBe('Paused')
})

test('a suspended job says how it goes on', () => {
  const suspended = { ...job, mode: 'Dedicated', queue: null } as const
  const described = describeWaiting({ ...suspended, state: 'Suspended', progressStep: 7 }, nobody)
  expect(described).toMatchObject({ reason: 'Suspended', position: null, ahead: null, holder: null })
  expect(described?.sentence).toContain('after its last save, up to gradient step 7, when it is resumed')
  expect(describeWaiting({ ...suspended, state: 'Suspended' }, nobody)?.sentence).toContain('It begins when')
  expect(describeWaiting({ ...suspended, state: 'Suspending' }, nobody)?.reason).toBe('Suspending')
})
