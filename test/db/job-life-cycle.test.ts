import { beforeEach, describe, expect, test } from 'vitest'
import { claimJob, type Claim } from '../../db/jobs/claims.ts'
import { renewLease } from '../../db/jobs/leases.ts'
import { decideLostAttempts, listLostPods } from '../../db/jobs/lost-attempts.ts'
import { recordServing } from '../../db/jobs/report-service.ts'
import { recordCheckpoint, recordEvents } from '../../db/jobs/reports.ts'
import { releaseExpiredLeases } from '../../db/jobs/requeue.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { finishJob } from '../support/leases.ts'
import { checkpointOf, started, step, TrainingRows } from '../support/training-rows.ts'

const database = useTestDatabase()
let rows: TrainingRows

beforeEach(() => {
  rows = new TrainingRows(database.pool)
})

async function countLockWaits(): Promise<number> {
  const { rowCount } = await database.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )
  return rowCount ?? 0
}

describe('claiming', () => {
  test('jobs of one model are assigned in order of arrival, each after the previous one has ended', async () => {
    const model = await rows.addModel()
    const jobs = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    for (const job of jobs) {
      await rows.train(job)
      expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
      expect(await finishJob(database.pool, job)).toBe(true)
    }
    expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
  })

  test('a claim has everything that a trainer needs, and begins with the newest checkpoint', async () => {
    const model = await rows.addModel()
    const [first, second, third] = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    const { claim } = await rows.train(first)
    expect(claim).toEqual({
      id: first,
      attempt: 1,
      entity: 'team',
      modelId: model,
      modelName: expect.stringMatching(/^team\/[^/]+\/[^/]+$/),
      baseModel: rows.baseModel,
      method: 'RL',
      input: { uri: 'artifact:///payloads/team/0a.json', digest: '0a' },
      config: { learning_rate: 0.001 },
      step: 1,
      checkpointId: expect.any(String),
      fromCheckpoint: null,
      resume: null,
      reference: null,
      tokenStatistics: 'sampled',
      isLast: true,
    })
    await finishJob(database.pool, first)
    const { claim: newer } = await rows.train(second)
    await finishJob(database.pool, second)
    const next = (await rows.claim()).claim
    expect(next).toMatchObject({ id: third, step: 3 })
    expect(next.fromCheckpoint).toEqual({ id: newer.checkpointId, step: 2, uri: checkpointOf(newer).uri, digest: 'ab' })
  })

  test('jobs of different models run side by side', async () => {
    const jobs = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    expect([(await rows.claim()).claim.id, (await rows.claim()).claim.id]).toEqual(jobs)
  })

  test('a job waits for an earlier one that is not valid yet, but not for other base models', async () => {
    const model = await rows.addModel()
    await rows.addJob(model, { state: 'Pending' })
    await rows.addJob(model)
    await new TrainingRows(database.pool).addJob(await new TrainingRows(database.pool).addModel())
    expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
  })

  test('twenty concurrent claimers never get the same job, nor two jobs of one model', async () => {
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

  test('an older job that appears while the next one is being claimed waits until that one has ended', async () => {
    const model = await rows.addModel()
    const [older, claimer] = [await database.pool.connect(), await database.pool.connect()]
    try {
      await older.query('BEGIN')
      await rows.addJob(model, {}, older)
      const next = await rows.addJob(model)
      await claimer.query('BEGIN')
      await claimer.query("UPDATE training.jobs SET state = 'Starting' WHERE id = $1", [next])
      await older.query('COMMIT')
      const claim = claimJob(database.pool, rows.trainer())
      await eventually(async () => expect(await countLockWaits()).toBeGreaterThan(0))
      await claimer.query('COMMIT')
      expect(await claim).toBeUndefined()
    } finally {
      older.release()
      claimer.release()
    }
  })

  test('a process with two concurrent requests gets one job, twice', async () => {
    await rows.addJob(await rows.addModel())
    await rows.addJob(await rows.addModel())
    const trainer = rows.trainer()
    const [one, two] = await Promise.all([claimJob(database.pool, trainer), claimJob(database.pool, trainer)])
    expect(one).toBeDefined()
    expect(two).toEqual(one)
  })
})

describe('releasing', () => {
  test('another process of the same pod releases the jobs of the earlier one at once', async () => {
    const job = await rows.addJob(await rows.addModel())
    const first = rows.trainer()
    const { attempt } = await rows.claim(first)
    await recordEvents(database.pool, attempt, [started])
    const { claim } = await rows.claim(rows.trainer(first.podUid))
    expect(claim).toMatchObject({ id: job, attempt: 2 })
    expect(await recordEvents(database.pool, attempt, [step(1)])).toBe('fenced')
  })

  test('a lease that ran out puts the job back, and one that is renewed does not', async () => {
    const [silent, alive] = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
    const { attempt: dead } = await rows.claim()
    const { attempt } = await rows.claim()
    await rows.expireLease(silent)
    await rows.expireLease(alive)
    expect(await renewLease(database.pool, attempt)).toBe(true)
    expect(await rows.releaseExpiredLeases()).toEqual([{ id: silent, attempt: 1, state: 'Queued' }])
    expect(await renewLease(database.pool, dead)).toBe(false)
    expect((await rows.readJob(silent)).failure?.reason).toBe('TrainerLost')
    expect(await rows.listEvents(silent)).toEqual([])
  })

  test('a lost trainer costs a try when that is decided; the last one then ends the job, once', async () => {
    const job = await rows.addJob(await rows.addModel(), { maxAttempts: 2 })
    for (const attempt of [1, 2]) {
      const { podUid } = (await rows.claim()).attempt
      await rows.expireLease(job)
      const sweeps = await Promise.all([1, 2, 3].map(() => rows.releaseExpiredLeases()))
      expect(sweeps.flat()).toEqual([{ id: job, attempt, state: 'Queued' }])
      if (attempt === 2) expect(await claimJob(database.pool, rows.trainer())).toBeUndefined()
      const verdict = { counts: true, reason: 'OOMKilled', message: 'out of memory' }
      await Promise.all([1, 2].map(() => decideLostAttempts(database.pool, podUid, verdict)))
    }
    expect(await rows.readJob(job)).toMatchObject({ state: 'Failed', failure: { reason: 'OOMKilled' } })
    expect(await rows.listEvents(job)).toEqual(['1 training_failed'])
    expect(await rows.readErrorMessage(job)).toBe('out of memory (tried 2 times)')
  })

  test('a lost node costs no try, also of a job that is tried once', async () => {
    const job = await rows.addJob(await rows.addModel(), { maxAttempts: 1 })
    for (const attempt of [1, 2, 3]) {
      const claimed = await rows.claim()
      expect(claimed.claim.attempt).toBe(attempt)
      await rows.expireLease(job)
      await rows.releaseExpiredLeases()
      const { podUid } = claimed.attempt
      expect(await listLostPods(database.pool)).toContainEqual({ uid: podUid, lostSeconds: expect.any(Number) })
      await decideLostAttempts(database.pool, podUid, { counts: false, reason: 'NodeFailure', message: 'gone' })
      expect(await rows.readJob(job)).toMatchObject({ state: 'Queued', failure: { reason: 'NodeFailure' } })
    }
  })

  test('after an outage no lease has expired until trainers had the time to report', async () => {
    const job = await rows.addJob(await rows.addModel())
    const { attempt } = await rows.claim()
    const setService = (upSeconds: number, seenSeconds: number) =>
      database.pool.query(
        `INSERT INTO training.report_service
         VALUES (1, now() - make_interval(secs => $1), now() - make_interval(secs => $2))
         ON CONFLICT (id) DO UPDATE SET up_since = excluded.up_since, seen_at = excluded.seen_at`,
        [upSeconds, seenSeconds],
      )
    await rows.expireLease(job)
    // No status server for a minute.
    await setService(3600, 60)
    expect(await releaseExpiredLeases(database.pool)).toEqual([])
    await recordServing(database.pool)
    expect(await releaseExpiredLeases(database.pool)).toEqual([])
    expect(await renewLease(database.pool, attempt)).toBe(true)
    await recordServing(database.pool)
    expect(await rows.readJob(job)).toMatchObject({ state: 'Starting', attempt: 1 })
    await rows.expireLease(job)
    await setService(16, 1)
    expect(await releaseExpiredLeases(database.pool)).toContainEqual({ id: job, attempt: 1, state: 'Queued' })
  })
})
