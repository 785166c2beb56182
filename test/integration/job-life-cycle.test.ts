import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { claimJob, renewLease, type Attempt, type Claim } from '../../db/queries/job-claims.ts'
import { cancelJob, failJob, finishJob, sweepExpiredLeases } from '../../db/queries/job-endings.ts'
import { recordCheckpoint, recordEvents, recordFailure, type ReportedFailure } from '../../db/queries/job-reports.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { TrainingRows } from '../support/training-rows.ts'

let database: TestDatabase
let rows: TrainingRows

beforeAll(async () => {
  database = await createTestDatabase()
})
beforeEach(() => {
  rows = new TrainingRows(database.pool)
})
afterAll(() => database.drop())

const started = { seq: 0, type: 'training_started', data: { num_sequences: 2 } }
const step = (seq: number) => ({ seq, type: 'gradient_step', data: { loss: 1 / seq } })
const lost = { category: 'Internal', reason: 'CudaOutOfMemory', message: 'out of memory', retryable: true } as const

function checkpointOf(claim: Claim) {
  return { uri: `artifact:///checkpoints/${claim.checkpointId}`, digest: 'ab', metrics: { reward: 0.5 } }
}

async function train(jobId?: string): Promise<{ claim: Claim; attempt: Attempt }> {
  const { claim, attempt } = await rows.claim()
  if (jobId) expect(claim.id).toBe(jobId)
  expect(await recordEvents(database.pool, attempt, [started, step(1), step(2)])).toBe('recorded')
  expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
  return { claim, attempt }
}

describe('claiming', () => {
  test('jobs of one model are given out in order of arrival, each after the one before it has ended', async () => {
    const model = await rows.addModel()
    const jobs = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    for (const job of jobs) {
      await train(job)
      expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
      expect(await finishJob(database.pool, job)).toBe(true)
    }
    expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
  })

  test('a claim tells all that a trainer needs, from the newest checkpoint on', async () => {
    const model = await rows.addModel()
    const [first, second] = [await rows.addJob(model), await rows.addJob(model)]
    const { claim } = await train(first)
    expect(claim).toEqual({
      id: first,
      attempt: 1,
      modelId: model,
      baseModel: rows.baseModel,
      method: 'RL',
      input: { uri: 'artifact:///payloads/team/0a.json', digest: '0a' },
      config: { learning_rate: 0.001 },
      step: 1,
      checkpointId: expect.any(String),
      fromCheckpoint: null,
    })
    await finishJob(database.pool, first)
    const next = (await rows.claim()).claim
    expect(next).toMatchObject({ id: second, step: 2 })
    expect(next.fromCheckpoint).toEqual({ id: claim.checkpointId, step: 1, uri: checkpointOf(claim).uri, digest: 'ab' })
  })

  test('jobs of different models run side by side', async () => {
    const jobs = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    expect([(await rows.claim()).claim.id, (await rows.claim()).claim.id]).toEqual(jobs)
  })

  test('a job waits for an earlier one that is not valid yet, and for no other base model', async () => {
    const model = await rows.addModel()
    await rows.addJob(model, { state: 'Pending' })
    await rows.addJob(model)
    await new TrainingRows(database.pool).addJob(await new TrainingRows(database.pool).addModel())
    expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
  })

  test('twenty claimers at once never get the same job, nor two of one model', async () => {
    const models = await Promise.all(Array.from({ length: 8 }, () => rows.addModel()))
    const oldest: string[] = []
    for (const model of models) {
      oldest.push(await rows.addJob(model))
      await rows.addJob(model)
    }
    const claims: Claim[] = []
    while (claims.length < models.length) {
      const round = await Promise.all(Array.from({ length: 20 }, () => claimJob(database.pool, rows.trainer())))
      const given = round.filter((claim) => claim !== undefined)
      expect(given.length).toBeGreaterThan(0)
      claims.push(...given)
    }
    expect(claims.map((claim) => claim.id).sort()).toEqual(oldest.sort())
  })

  test('twenty claimers of a growing queue train every job once, in order', async () => {
    const models = [await rows.addModel(), await rows.addModel(), await rows.addModel()]
    const expected = new Map(models.map((model) => [model, [] as string[]]))
    const seen = new Map(models.map((model) => [model, [] as string[]]))
    const add = async () => {
      for (let index = 0; index < 12; index++) {
        const model = models[index % 3]!
        expected.get(model)!.push(await rows.addJob(model))
      }
    }
    const work = async () => {
      for (let idle = 0; idle < 20;) {
        const trainer = rows.trainer()
        const claim = await claimJob(database.pool, trainer)
        idle = claim ? 0 : idle + 1
        if (!claim) continue
        seen.get(claim.modelId)!.push(claim.id)
        const attempt = { jobId: claim.id, attempt: claim.attempt, podUid: trainer.podUid }
        expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
        expect(await finishJob(database.pool, claim.id)).toBe(true)
      }
    }
    await Promise.all([add(), ...Array.from({ length: 20 }, work)])
    expect(seen).toEqual(expected)
  })

  test('one process that asks twice at once gets one job, twice', async () => {
    await rows.addJob(await rows.addModel())
    await rows.addJob(await rows.addModel())
    const trainer = rows.trainer()
    const [one, two] = await Promise.all([claimJob(database.pool, trainer), claimJob(database.pool, trainer)])
    expect(one).toBeDefined()
    expect(two).toEqual(one)
  })
})

describe('releasing', () => {
  test('another process of the same pod releases what the earlier one held, at once', async () => {
    const job = await rows.addJob(await rows.addModel())
    const first = rows.trainer()
    const { attempt } = await rows.claim(first)
    await recordEvents(database.pool, attempt, [started])
    const { claim } = await rows.claim(rows.trainer(first.podUid))
    expect(claim).toMatchObject({ id: job, attempt: 2 })
    expect(await recordEvents(database.pool, attempt, [step(1)])).toBe('fenced')
  })

  test('a process that asks again in the middle of its job has dropped it', async () => {
    await rows.addJob(await rows.addModel())
    const trainer = rows.trainer()
    const { attempt } = await rows.claim(trainer)
    await recordEvents(database.pool, attempt, [started])
    expect((await rows.claim(trainer)).claim.attempt).toBe(2)
  })

  test('a lease that ran out puts the job back, and one that is renewed does not', async () => {
    const [silent, alive] = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    const { attempt: dead } = await rows.claim()
    const { attempt } = await rows.claim()
    await rows.expireLease(silent)
    await rows.expireLease(alive)
    expect(await renewLease(database.pool, attempt)).toBe(true)
    expect(await sweepExpiredLeases(database.pool)).toEqual([{ id: silent, attempt: 1, state: 'Queued' }])
    expect(await renewLease(database.pool, dead)).toBe(false)
    expect((await rows.readJob(silent)).failure?.reason).toBe('TrainerLost')
    expect(await rows.listEvents(silent)).toEqual([])
  })

  test('after its last attempt a lost job fails, once, with a sentence', async () => {
    const job = await rows.addJob(await rows.addModel(), { maxAttempts: 2 })
    for (const attempt of [1, 2]) {
      expect((await rows.claim()).claim.attempt).toBe(attempt)
      await rows.expireLease(job)
      const sweeps = await Promise.all([1, 2, 3].map(() => sweepExpiredLeases(database.pool)))
      expect(sweeps.flat()).toHaveLength(1)
    }
    expect(await rows.readJob(job)).toMatchObject({ state: 'Failed', failure: { reason: 'TrainerLost' } })
    expect(await rows.listEvents(job)).toEqual(['1 training_failed'])
    expect(await rows.readErrorMessage(job)).toMatch(/^The trainer stopped without a report.*\(tried 2 times\)$/)
  })
})

describe('reports', () => {
  test('a repeated report changes nothing and is answered as the first one', async () => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await rows.claim()
    for (let times = 0; times < 2; times++) {
      expect(await recordEvents(database.pool, attempt, [started, step(1)])).toBe('recorded')
    }
    expect(await rows.readJob(job)).toMatchObject({ state: 'Running', progress_step: 1, progress_total: 2 })
    for (let times = 0; times < 2; times++) {
      expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
    }
    expect(await recordEvents(database.pool, attempt, [step(1)])).toBe('recorded')
    expect(await renewLease(database.pool, attempt)).toBe(true)
    expect((await rows.readJob(job)).state).toBe('Publishing')
    expect(await rows.listEvents(job)).toEqual(['0 training_started', '1 gradient_step'])
  })

  test('another checkpoint, a new event or a failure after the checkpoint is fenced', async () => {
    const job = await rows.addJob(await rows.addModel())
    const { claim, attempt } = await train(job)
    const other = { ...checkpointOf(claim), digest: 'cd' }
    expect(await recordCheckpoint(database.pool, attempt, other)).toBe('fenced')
    expect(await recordEvents(database.pool, attempt, [step(3)])).toBe('fenced')
    expect(await recordFailure(database.pool, attempt, lost)).toBe('fenced')
    expect((await rows.readJob(job)).state).toBe('Publishing')
  })

  test('writes of another pod, of an earlier attempt and to an unknown job are fenced', async () => {
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
    await train(job)
    await finishJob(database.pool, job)
    expect(await rows.listEvents(job)).toEqual([
      '0 training_started',
      '1 gradient_step',
      '2 gradient_step',
      '3 training_ended',
    ])
  })

  test.each<[string, ReportedFailure, string]>([
    ["a user's fault", { ...lost, category: 'User' }, 'out of memory'],
    ['a failure that no retry helps', { ...lost, retryable: false }, 'out of memory'],
  ])('%s fails the job at the first attempt', async (_name, failure, message) => {
    const job = await rows.addJob(await rows.addModel())
    const { attempt } = await rows.claim()
    await recordEvents(database.pool, attempt, [started])
    expect(await recordFailure(database.pool, attempt, failure)).toBe('recorded')
    expect(await recordFailure(database.pool, attempt, failure)).toBe('recorded')
    expect((await rows.readJob(job)).state).toBe('Failed')
    expect(await rows.listEvents(job)).toEqual(['0 training_started', '1 training_failed'])
    expect(await rows.readErrorMessage(job)).toBe(message)
  })

  test('a step number is given once, whatever became of attempts and jobs before', async () => {
    const model = await rows.addModel()
    const [first, second, third] = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    const { attempt, claim } = await rows.claim()
    await recordFailure(database.pool, attempt, lost)
    const { claim: again } = await train(first)
    expect([claim.step, again.step]).toEqual([1, 1])
    expect(again.checkpointId).not.toBe(claim.checkpointId)
    await finishJob(database.pool, first)
    await database.pool.query('DELETE FROM training.checkpoints WHERE model_id = $1', [model])
    await cancelJob(database.pool, second)
    const { claim: next } = await train(third)
    expect(next).toMatchObject({ step: 2, fromCheckpoint: null })
  })
})

describe('endings', () => {
  const failure = { category: 'User', reason: 'BadInput', message: 'the payload is no JSON' } as const

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

  test('a trained job succeeds, also when it is failed or cancelled while it is published', async () => {
    const [failed, cancelled] = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    await train(failed)
    await train(cancelled)
    expect(await failJob(database.pool, failed, failure)).toBe(false)
    expect(await finishJob(database.pool, failed)).toBe(true)
    expect(await cancelJob(database.pool, cancelled)).toBe(true)
    for (const job of [failed, cancelled]) {
      expect(await rows.readJob(job)).toMatchObject({ state: 'Succeeded', failure: null })
      expect((await rows.listEvents(job)).at(-1)).toBe('3 training_ended')
    }
  })

  test('the terminal event comes last, however events and the end race', async () => {
    for (let round = 0; round < 10; round++) {
      const job = await rows.addJob(await rows.addModel())
      const { attempt } = await rows.claim()
      await Promise.all([
        ...[1, 2, 3].map((seq) => recordEvents(database.pool, attempt, [step(seq)])),
        cancelJob(database.pool, job),
      ])
      const events = await rows.listEvents(job)
      expect(events.at(-1)).toBe(
        `${events.length === 1 ? 1 : Number(events.at(-2)!.split(' ')[0]) + 1} training_failed`,
      )
    }
  })
})
