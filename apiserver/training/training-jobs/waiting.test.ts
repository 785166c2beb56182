import { expect, test } from 'vitest'
import type { Holders } from '../../../db/jobs/holders.ts'
import type { QueueBlock } from '../../../db/jobs/queue-blocks.ts'
import { describeWaiting } from './waiting.ts'

const nobody = { ofModel: null, training: 0, own: null, trainerTrouble: null }
const queue = { ahead: 0, firstAhead: null, place: 2, hasBaseModel: true, block: null as QueueBlock | null }
const describe = (changes: Partial<typeof queue>, holders: Partial<Holders> = {}) =>
  describeWaiting({ state: 'Queued', mode: 'Warm', queue: { ...queue, ...changes } }, { ...nobody, ...holders })

test('a job that does not wait has no reason', () => {
  expect(describeWaiting({ state: 'Running', mode: 'Warm', queue: null }, nobody)).toBeNull()
})

test('a job that is not queued yet waits for the operator', () => {
  const pending = describeWaiting({ state: 'Pending', mode: 'Warm', queue: null }, nobody)
  expect(pending).toMatchObject({ reason: 'WaitingForOperator', position: null, ahead: null })
})

test('earlier jobs of its model are counted, and the first of them holds it', () => {
  const holder = { id: 'job', state: 'Running' as const }
  expect(describe({ ahead: 2 }, { ofModel: holder })).toEqual({
    reason: 'WaitingForModel',
    position: 3,
    ahead: 2,
    sentence:
      'A model is trained by one job at a time, and 2 earlier jobs of its model are before it, the first of which is ' +
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
])('for a trainer it has a place, and hears of other entities only how many: %j', (holders, words, id) => {
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
  const waiting = describeWaiting({ state: 'Queued', mode: 'Dedicated', queue }, { ...nobody, training: 1, own })
  expect(waiting).toMatchObject({ reason: 'WaitingForPod', position: 2, holder: null })
})
