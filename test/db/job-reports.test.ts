import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { renewLease } from '../../db/jobs/leases.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import type { JobFailure } from '../../db/jobs/attempts.ts'
import { recordCheckpoint, recordEvents, recordFailure } from '../../db/jobs/reports.ts'
import { useTestDatabase } from '../support/database.ts'
import { finishJob } from '../support/leases.ts'
import { checkpointOf, started, step, TrainingRows } from '../support/training-rows.ts'

const database = useTestDatabase()
let rows: TrainingRows

beforeEach(() => {
  rows = new TrainingRows(database.pool)
})

const lost = { category: 'Internal', reason: 'CudaOutOfMemory', message: 'out of memory', retryable: true } as const

async function listEventIds(jobId: string) {
  const events = await database.pool.query('SELECT id, data FROM training.events WHERE job_id = $1 ORDER BY seq', [
    jobId,
  ])
  return events.rows as unknown[]
}

describe('reports', () => {
  test('a repeated report changes nothing and is answered as the first one', async () => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await rows.claim()
    expect(await recordEvents(database.pool, attempt, [started, step(1)])).toBe('recorded')
    const ids = await listEventIds(job)
    const otherLoss = { ...step(1), data: { loss: 7 } }
    expect(await recordEvents(database.pool, attempt, [started, otherLoss])).toBe('recorded')
    expect(await listEventIds(job)).toEqual(ids)
    expect(await rows.readJob(job)).toMatchObject({ state: 'Running', progress_step: 1, progress_total: 2 })
    for (let times = 0; times < 2; times++) {
      expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
    }
    expect(await recordEvents(database.pool, attempt, [step(1)])).toBe('recorded')
    expect(await renewLease(database.pool, attempt)).toBe(true)
    expect((await rows.readJob(job)).state).toBe('Publishing')
    expect(await rows.listEvents(job)).toEqual(['0 training_started', '1 gradient_step'])
  })

  test('another checkpoint, a new event or a failure after the checkpoint is rejected', async () => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await rows.train(job)
    const other = { ...checkpointOf(claim), digest: 'cd' }
    expect(await recordCheckpoint(database.pool, attempt, other)).toBe('fenced')
    expect(await recordEvents(database.pool, attempt, [step(3)])).toBe('fenced')
    expect(await recordFailure(database.pool, attempt, lost)).toBe('fenced')
    expect((await rows.readJob(job)).state).toBe('Publishing')
  })

  test("a checkpoint with another id than the claim's is rejected", async () => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await rows.claim()
    const other = { ...checkpointOf(claim), uri: `artifact:///checkpoints/${randomUUID()}` }
    expect(await recordCheckpoint(database.pool, attempt, other)).toBe('fenced')
    expect((await rows.readJob(job)).state).toBe('Starting')
  })

  test('writes of another pod, of an earlier attempt and to an unknown job are rejected', async () => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await rows.claim()
    const strangers = [
      { ...attempt, podUid: randomUUID() },
      { ...attempt, attempt: attempt.attempt - 1 },
      { ...attempt, jobId: randomUUID() },
    ]
    for (const stranger of strangers) {
      expect(await renewLease(database.pool, stranger)).toBe(false)
      expect(await recordEvents(database.pool, stranger, [started])).toBe('fenced')
      expect(await recordCheckpoint(database.pool, stranger, checkpointOf(claim))).toBe('fenced')
      expect(await recordFailure(database.pool, stranger, lost)).toBe('fenced')
    }
    expect(await rows.readJob(job)).toMatchObject({ state: 'Starting', attempt: 1, failure: null })
  })

  test('a retried attempt repeats no event that clients have seen', async () => {
    const job = await rows.addJob(await rows.addModel())
    const first = await rows.claim()
    await recordEvents(database.pool, first.attempt, [started, step(1)])
    expect(await recordFailure(database.pool, first.attempt, lost)).toBe('recorded')
    expect(await recordFailure(database.pool, first.attempt, lost)).toBe('recorded')
    await rows.train(job)
    await finishJob(database.pool, job)
    expect(await rows.listEvents(job)).toEqual([
      '0 training_started',
      '1 gradient_step',
      '2 gradient_step',
      '3 training_ended',
    ])
  })

  test.each<[string, JobFailure, string]>([
    ['an error of the user', { ...lost, category: 'User' }, 'out of memory'],
    ['a failure that is not retried', { ...lost, retryable: false }, 'out of memory'],
  ])('%s fails the job at the first attempt', async (_name, failure, message) => {
    const job = await rows.addJob(await rows.addModel())
    const { attempt } = await rows.claim()
    await recordEvents(database.pool, attempt, [started])
    expect(await recordFailure(database.pool, attempt, failure)).toBe('recorded')
    expect(await recordFailure(database.pool, attempt, failure)).toBe('recorded')
    expect(await rows.readJob(job)).toMatchObject({ state: 'Failed', failure: { retryable: false } })
    expect(await rows.listEvents(job)).toEqual(['0 training_started', '1 training_failed'])
    expect(await rows.readErrorMessage(job)).toBe(message)
  })

  test('a step number is used once, even after failed attempts and jobs', async () => {
    const model = await rows.addModel()
    const [first, second, third] = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    const { attempt, claim } = await rows.claim()
    await recordFailure(database.pool, attempt, lost)
    const { claim: again } = await rows.train(first)
    expect([claim.step, again.step]).toEqual([1, 1])
    expect(again.checkpointId).not.toBe(claim.checkpointId)
    await finishJob(database.pool, first)
    await database.pool.query('DELETE FROM training.checkpoints WHERE model_id = $1', [model])
    await cancelJob(database.pool, second)
    const { claim: next } = await rows.train(third)
    expect(next).toMatchObject({ step: 2, fromCheckpoint: null })
  })
})

describe('endings', () => {
  const failure = { category: 'User', reason: 'BadInput', message: 'the payload is no JSON', retryable: false } as const

  test('a terminal state never changes, and has one terminal event', async () => {
    const endings: [string, (jobId: string) => Promise<boolean>][] = [
      ['Failed', (jobId) => failJob(database.pool, jobId, failure)],
      ['Cancelled', (jobId) => cancelJob(database.pool, jobId)],
    ]
    for (const [state, end] of endings) {
      const job = await rows.addJob(await rows.addModel())
      const { attempt, claim } = await rows.claim()
      const ended = await Promise.all([end(job), end(job), end(job)])
      expect(ended.filter(Boolean)).toHaveLength(1)
      const after = await rows.readJob(job)
      expect(after).toMatchObject({ state, finished_at: expect.any(Date) })
      expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('fenced')
      expect(await renewLease(database.pool, attempt)).toBe(false)
      const later = [finishJob(database.pool, job), failJob(database.pool, job, failure), cancelJob(database.pool, job)]
      expect(await Promise.all(later)).toEqual([false, false, false])
      expect(await rows.readJob(job)).toEqual(after)
      expect(await rows.listEvents(job)).toEqual(['1 training_failed'])
    }
  })

  test('a trained job succeeds, even if it is reported as failed or cancelled while it is published', async () => {
    const [failed, cancelled] = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    await rows.train(failed)
    await rows.train(cancelled)
    expect(await failJob(database.pool, failed, failure)).toBe(false)
    expect(await finishJob(database.pool, failed)).toBe(true)
    expect(await cancelJob(database.pool, cancelled)).toBe(true)
    for (const job of [failed, cancelled]) {
      expect(await rows.readJob(job)).toMatchObject({ state: 'Succeeded', failure: null })
      expect((await rows.listEvents(job)).at(-1)).toBe('3 training_ended')
    }
  })

  test('the terminal event comes last, even when events and the end are concurrent', async () => {
    for (let round = 0; round < 10; round++) {
      const job = await rows.addJob(await rows.addModel())
      const { attempt } = await rows.claim()
      await Promise.all([
        ...[1, 2, 3].map((seq) => recordEvents(database.pool, attempt, [step(seq)])),
        cancelJob(database.pool, job),
      ])
      const events = await rows.listEvents(job)
      const earlier = events.slice(0, -1).map((event) => Number(event.split(' ')[0]))
      expect(events.at(-1)).toBe(`${Math.max(0, ...earlier) + 1} training_failed`)
    }
  })
})
