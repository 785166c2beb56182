import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failJob } from '../../db/jobs/endings.ts'
import { decideLostAttempts } from '../../db/jobs/lost-attempts.ts'
import { recordCheckpoint, recordEvents, recordFailure } from '../../db/jobs/reports.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { useApiServer } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import { type Rest } from '../support/rest.ts'
import { addTrainingEntity, type Job, type Jobs, jobsPath } from '../support/training-entity.ts'
import { checkpointOf, started, step, TrainingRows } from '../support/training-rows.ts'

const own = useApiServer()
let rows: TrainingRows
let api: Rest
let stranger: Rest

beforeAll(async () => {
  stranger = await own.join('others')
})
// Every test has its own entity, so that it lists only its own jobs.
beforeEach(async () => {
  ;({ rows, api } = await addTrainingEntity(own))
})

const read = (id: string) => api.call<Job>('GET', `${jobsPath}/${id}`)
const lost = { category: 'Internal', reason: 'CudaOutOfMemory', message: 'out of memory', retryable: true } as const

describe('a job', () => {
  test('has its whole life cycle', async () => {
    const model = await rows.addModel()
    const id = await rows.addJob(model, { state: 'Pending' })
    const pending = await read(id)
    expect(pending).toEqual({
      id,
      model_id: model,
      method: 'RL',
      retry_of: null,
      state: 'Pending',
      start_deadline_seconds: null,
      active_deadline_seconds: null,
      mode: 'Warm',
      queue_name: null,
      priority: 0,
      suspend: false,
      attempt: 0,
      max_attempts: 6,
      step: null,
      progress: { step: 0, total_steps: null },
      queue: null,
      checkpoint: null,
      training_data_url: null,
      config: null,
      experimental_config: { learning_rate: 0.001 },
      failure: null,
      warnings: [],
      waiting: expect.objectContaining({
        reason: 'WaitingForOperator',
        position: null,
        holder: null,
        estimated_start_at: null,
      }),
      loads: [],
      timeline: {
        created_at: expect.any(String),
        queued_at: null,
        claimed_at: null,
        started_at: null,
        trained_at: null,
        published_at: null,
        finished_at: null,
      },
      created_at: pending.timeline['created_at'],
      started_at: null,
      finished_at: null,
    })
    await queueJob(own.database.pool, id)
    expect(await read(id)).toMatchObject({ state: 'Queued', queue: { position: 1, reason: 'WaitingForTrainer' } })
    const { claim, attempt } = await rows.claim()
    expect(await read(id)).toMatchObject({ state: 'Starting', attempt: 1, step: null, queue: null, checkpoint: null })
    await recordEvents(own.database.pool, attempt, [started, step(1)])
    expect(await read(id)).toMatchObject({ state: 'Running', step: null, progress: { step: 1, total_steps: 2 } })
    await recordCheckpoint(own.database.pool, attempt, checkpointOf(claim))
    expect(await read(id)).toMatchObject({
      state: 'Publishing',
      step: 1,
      checkpoint: { id: claim.checkpointId, step: 1 },
    })
    await finishJob(own.database.pool, id)
    const { state, timeline, started_at, finished_at } = await read(id)
    const times = Object.values(timeline)
    expect({ state, times: times.toSorted((a, b) => (a! < b! ? -1 : 1)) }).toEqual({ state: 'Succeeded', times })
    expect(Object.keys(timeline)).toHaveLength(7)
    expect({ started_at, finished_at }).toEqual({
      started_at: timeline['started_at'],
      finished_at: timeline['finished_at'],
    })
    await own.database.pool.query('UPDATE training.checkpoints SET deleted_at = now() WHERE id = $1', [
      claim.checkpointId,
    ])
    expect(await read(id)).toMatchObject({ checkpoint: null, step: 1 })
  })

  test('that ends without a checkpoint has no step, nor has its webhook; the next job makes that step', async () => {
    const model = await rows.addModel()
    const [failed, cancelled, made] = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
    await recordFailure(own.database.pool, (await rows.claim()).attempt, { ...lost, retryable: false })
    await rows.claim()
    await api.call('POST', `${jobsPath}/${cancelled}/cancel`)
    await rows.train(made)
    const steps = await Promise.all([failed, cancelled, made].map(async (id) => (await read(id))['step']))
    expect(steps).toEqual([null, null, 1])
    const { rows: reported } = await own.database.pool.query<{ step: number | null; warnings: unknown }>(
      `SELECT data->'step' AS step, data->'warnings' AS warnings FROM training.outbox
       WHERE subject_id = ANY ($1) AND kind IN ('training_job.failed', 'training_job.cancelled', 'training_job.publishing')
       ORDER BY id`,
      [[failed, cancelled, made]],
    )
    expect(reported).toEqual([null, null, 1].map((at) => ({ step: at, warnings: [] })))
  })

  test("has its position in its model's queue, and among jobs that wait for a trainer", async () => {
    const [first, second] = [await rows.addModel(), await rows.addModel()]
    const jobs = [
      await rows.addJob(first),
      await rows.addJob(first),
      await rows.addJob(second),
      await rows.addJob(first),
      await rows.addJob(await new TrainingRows(own.database.pool, rows.entity).addModel()),
    ]
    const behind = (count: string, position: number) => ({
      position,
      reason: 'WaitingForModel',
      message: `Waits for ${count} of its model before it.`,
    })
    const atPosition = (position: number) => ({
      position,
      reason: 'WaitingForTrainer',
      message: `Position ${position} in the queue for a trainer.`,
    })
    // No base model has the name of the last one's.
    const unserved = {
      position: 1,
      reason: 'BaseModelNotFound',
      message: 'No base model serves its model now. It waits until the base model is there again.',
    }
    const listPositions = async () => (await api.call<Jobs>('GET', jobsPath)).data.map(({ queue }) => queue)
    const reported = [atPosition(1), behind('1 job', 2), atPosition(2), behind('2 jobs', 3), unserved]
    expect(await listPositions()).toEqual(reported)
    expect(await Promise.all(jobs.map(async (id) => (await read(id))['queue']))).toEqual(reported)
    const waitingOf = async (id: string) => (await read(id))['waiting']
    expect(await waitingOf(jobs[3]!)).toMatchObject({ ahead: 2, holder: { job_id: jobs[0], state: 'Queued' } })
    const suspend = (asked: boolean) =>
      own.database.pool.query(
        'UPDATE training.jobs SET suspend_asked = $2, suspended_at = CASE WHEN $2 THEN now() END WHERE id = $1',
        [jobs[0], asked],
      )
    await suspend(true)
    expect(await waitingOf(jobs[3]!)).toMatchObject({
      sentence: expect.stringContaining('the first of which is Suspended') as string,
      holder: { job_id: jobs[0], state: 'Suspended' },
    })
    await suspend(false)
    expect(await waitingOf(jobs[2]!)).toMatchObject({ position: 2, ahead: 1, holder: null })
    await own.database.pool.query(`UPDATE training.base_models SET trainer_trouble = 'InsufficientGPU'`)
    expect(await waitingOf(jobs[2]!)).toMatchObject({ reason: 'InsufficientGPU', position: 2 })
    await own.database.pool.query('UPDATE training.base_models SET trainer_trouble = NULL')
    await rows.claim()
    expect(await waitingOf(jobs[0]!)).toBeNull()
    expect(await waitingOf(jobs[2]!)).toMatchObject({ ahead: 0, holder: { job_id: jobs[0], state: 'Starting' } })
    expect(await listPositions()).toEqual([null, behind('1 job', 2), atPosition(1), behind('2 jobs', 3), unserved])
  })

  test.each<[string, (id: string) => Promise<unknown>, object]>([
    [
      'an error of the user',
      async () => recordFailure(own.database.pool, (await rows.claim()).attempt, { ...lost, category: 'User' }),
      { category: 'User', code: 'CudaOutOfMemory', message: 'out of memory', retryable: false },
    ],
    [
      'a failure that is not retried',
      async () => recordFailure(own.database.pool, (await rows.claim()).attempt, { ...lost, retryable: false }),
      { category: 'Internal', code: 'CudaOutOfMemory', message: 'out of memory', retryable: false },
    ],
    [
      'its last attempt',
      async () => recordFailure(own.database.pool, (await rows.claim()).attempt, lost),
      { category: 'Internal', code: 'CudaOutOfMemory', message: 'out of memory', retryable: true },
    ],
    [
      'a trainer that stopped reporting in the last attempt',
      async (id) => {
        const { podUid } = (await rows.claim()).attempt
        await rows.expireLease(id)
        await rows.releaseExpiredLeases()
        await decideLostAttempts(own.database.pool, podUid, {
          counts: true,
          reason: 'TrainerLost',
          message: 'The trainer hangs.',
        })
      },
      { category: 'Internal', code: 'TrainerLost', message: expect.stringMatching(/^The trainer/), retryable: true },
    ],
    [
      'an input that is not allowed',
      (id) =>
        failJob(own.database.pool, id, { ...lost, category: 'User', reason: 'InputNotAllowed', retryable: false }),
      { category: 'User', code: 'InputNotAllowed', message: 'out of memory', retryable: false },
    ],
  ])('that failed because of %s has the reason', async (_name, fail, failure) => {
    const id = await rows.addJob(await rows.addModel(), { maxAttempts: 1 })
    await fail(id)
    expect(await read(id)).toMatchObject({ state: 'Failed', failure, timeline: { published_at: null } })
  })

  test('is tried again with the times of its newest attempt', async () => {
    const id = await rows.addJob(await rows.addModel())
    const { attempt } = await rows.claim()
    await recordEvents(own.database.pool, attempt, [started])
    const first = await read(id)
    await recordFailure(own.database.pool, attempt, lost)
    expect(await read(id)).toMatchObject({ state: 'Queued', attempt: 1, failure: { retryable: true } })
    await rows.claim()
    const second = await read(id)
    expect(second).toMatchObject({ state: 'Starting', attempt: 2, timeline: { started_at: null } })
    expect(second.timeline['claimed_at']! > first.timeline['claimed_at']!).toBe(true)
  })

  test('is not visible to other entities', async () => {
    const id = await rows.addJob(await rows.addModel())
    const answers = await Promise.all([
      stranger.send('GET', `${jobsPath}/${id}`),
      stranger.send('POST', `${jobsPath}/${id}/cancel`),
      stranger.send('GET', `${jobsPath}/${id}/events`),
      stranger.send('GET', `${jobsPath}/${randomUUID()}`),
      api.send('GET', `${jobsPath}/none`),
    ])
    const bodies = await Promise.all(
      answers.map(async (answer) => ({
        status: answer.status,
        body: (await answer.text()).replace(/job \S+/, 'job ID'),
      })),
    )
    expect(new Set(bodies.map((body) => JSON.stringify(body)))).toEqual(
      new Set([JSON.stringify({ status: 404, body: '{"detail":"Training job ID not found"}' })]),
    )
    expect((await stranger.call<Jobs>('GET', `${jobsPath}?limit=100`)).data).toEqual([])
  })
})
