import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { listBusyPods, markDraining } from '../../db/jobs/busy-trainers.ts'
import { claimJob, type Claimant } from '../../db/jobs/claims.ts'
import { renewLease } from '../../db/jobs/leases.ts'
import { decideLostAttempts } from '../../db/jobs/lost-attempts.ts'
import { recordCheckpoint, recordEvents } from '../../db/jobs/reports.ts'
import { useTestDatabase } from '../support/database.ts'
import { finishJob } from '../support/leases.ts'
import { checkpointOf, started, TrainingRows } from '../support/training-rows.ts'

const database = useTestDatabase()
let rows: TrainingRows

beforeEach(() => {
  rows = new TrainingRows(database.pool)
})

const claim = (trainer: Claimant, holding: string[]) => claimJob(database.pool, { ...trainer, holding })
const addJobs = async (count: number) => {
  const jobs: string[] = []
  for (let index = 0; index < count; index++) jobs.push(await rows.addJob(await rows.addModel()))
  return jobs
}
const addLastTry = async () => rows.addJob(await rows.addModel(), { maxAttempts: 1 })
/** The leases end one after the other, in the order of their renewal. */
const loseTogether = async (jobs: string[]) => {
  const trainer = rows.trainer()
  for (const [index] of jobs.entries()) await claim(trainer, jobs.slice(0, index))
  for (const job of jobs) {
    await rows.expireLease(job)
    expect((await rows.releaseExpiredLeases()).map(({ state }) => state)).toEqual(['Queued'])
  }
}
const stateOf = async (id: string) => {
  const { state, attempt } = await rows.readJob(id)
  return `${state} ${attempt}`
}
const begin = (jobId: string, attempt: number, { podUid }: Claimant) =>
  recordEvents(database.pool, { jobId, attempt, podUid }, [started])

describe('a trainer of several jobs', () => {
  test('claims one after the other, each of another model, in order of arrival', async () => {
    const trainer = rows.trainer()
    const model = await rows.addModel()
    const [first, behind] = [await rows.addJob(model), await rows.addJob(model)]
    const [second] = await addJobs(1)
    expect((await claim(trainer, []))?.id).toBe(first)
    expect((await claim(trainer, [first]))?.id).toBe(second)
    expect(await claim(trainer, [first, second!])).toBeUndefined()
    expect(await Promise.all([first, second!, behind].map(stateOf))).toEqual(['Starting 1', 'Starting 1', 'Queued 0'])
  })

  test('is told with the last job that no other waits, and then gets only what it has lost', async () => {
    const trainer = rows.trainer()
    const [first, second] = await addJobs(2)
    expect(await claim(trainer, [])).toMatchObject({ id: first, isLast: false })
    expect(await claim(trainer, [first!])).toMatchObject({ id: second, isLast: true })
    await addJobs(1)
    const claimLost = (...holding: string[]) =>
      claimJob(database.pool, { ...trainer, holding }, undefined, { onlyLost: true })
    expect(await claimLost(first!, second!)).toBeUndefined()
    expect(await claimLost(first!)).toMatchObject({ id: second, attempt: 1, isLast: false })
  })

  test('that lost the answer to a claim gets the job again in the same attempt, even when it has other jobs', async () => {
    const trainer = rows.trainer()
    const [first, second] = await addJobs(2)
    await claim(trainer, [])
    await begin(first!, 1, trainer)
    await claim(trainer, [first!])
    await rows.expireLease(second!)
    expect(await claim(trainer, [first!])).toMatchObject({ id: second, attempt: 1 })
    expect(await renewLease(database.pool, { jobId: second!, attempt: 1, podUid: trainer.podUid })).toBe(true)
    expect(await rows.releaseExpiredLeases()).toEqual([])
    expect(await claim(trainer, [first!, second!])).toBeUndefined()
  })

  test('keeps a running job that it no longer names until its lease has expired, because its end may be on the way', async () => {
    const trainer = rows.trainer()
    const [first, second] = await addJobs(2)
    const claimed = await claim(trainer, [])
    const attempt = { jobId: first!, attempt: 1, podUid: trainer.podUid }
    await begin(first!, 1, trainer)
    expect((await claim(trainer, []))?.id).toBe(second)
    expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claimed!))).toBe('recorded')
    expect(await finishJob(database.pool, first!)).toBe(true)
  })

  test('that was restarted releases all jobs of its pod', async () => {
    const trainer = rows.trainer()
    const [first, second] = await addJobs(2)
    await claim(trainer, [])
    await begin(first!, 1, trainer)
    await claim(trainer, [first!])
    const anew = rows.trainer(trainer.podUid)
    expect(await claim(anew, [])).toMatchObject({ id: first, attempt: 2 })
    expect(await stateOf(second!)).toBe('Queued 1')
  })

  test('that stops reporting loses all of its jobs', async () => {
    const trainer = rows.trainer()
    const jobs = await addJobs(3)
    for (const [index] of jobs.entries()) await claim(trainer, jobs.slice(0, index))
    for (const job of jobs) await rows.expireLease(job)
    expect((await rows.releaseExpiredLeases()).map(({ state }) => state)).toEqual(['Queued', 'Queued', 'Queued'])
    expect(await listBusyPods(database.pool)).not.toContain(trainer.podUid)
  })

  test('that is lost with several jobs costs none of them an attempt; each is then tried alone', async () => {
    const [first, second] = [await addLastTry(), await addLastTry()]
    await loseTogether([first, second])
    const [trainer, other] = [rows.trainer(), rows.trainer()]
    expect(await claim(trainer, [])).toMatchObject({ id: first, attempt: 2 })
    expect(await claim(trainer, [first])).toBeUndefined()
    expect(await claim(other, [])).toMatchObject({ id: second, attempt: 2 })
    await rows.expireLease(first)
    expect(await rows.releaseExpiredLeases()).toEqual([{ id: first, attempt: 2, state: 'Queued' }])
    await decideLostAttempts(database.pool, trainer.podUid, {
      counts: true,
      reason: 'TrainerLost',
      message: 'it hangs',
    })
    expect(await stateOf(first)).toBe('Failed 2')
    await rows.expireLease(second)
    await claim(rows.trainer(other.podUid), [])
    expect(await stateOf(second)).toBe('Failed 2')
  })

  test('gets no other job while one is tried alone, and no such job while it has others', async () => {
    const [innocent] = await addJobs(1)
    const [busy, careful] = [rows.trainer(), rows.trainer()]
    await claim(busy, [])
    const [suspect, other, late] = await addJobs(3)
    await loseTogether([suspect!, other!])
    expect(await claim(busy, [innocent!])).toBeUndefined()
    const claimed = await claim(careful, [])
    expect(claimed?.id).toBe(suspect)
    expect(await claim(careful, [suspect!])).toBeUndefined()
    const attempt = { jobId: suspect!, attempt: 2, podUid: careful.podUid }
    await begin(suspect!, 2, careful)
    await recordCheckpoint(database.pool, attempt, checkpointOf(claimed!))
    expect((await claim(careful, []))?.id).toBe(other)
    expect((await claim(busy, [innocent!]))?.id).toBe(late)
  })

  test('that sends two concurrent requests gets the same job in both', async () => {
    const trainer = rows.trainer()
    const jobs = await addJobs(2)
    const got = await Promise.all([claim(trainer, []), claim(trainer, [])])
    // The second request looks like a retry after a lost answer.
    expect(got.map((each) => each?.id)).toEqual([jobs[0], jobs[0]])
  })
})

test('a draining trainer keeps its jobs and gets no more', async () => {
  const [trainer, other] = [rows.trainer(), rows.trainer()]
  const [first, second] = await addJobs(2)
  const baseModel = { namespace: 'trainyard', name: randomUUID() }
  await claim(trainer, [])
  await markDraining(database.pool, baseModel, [trainer.podUid])
  await markDraining(database.pool, baseModel, [trainer.podUid, other.podUid])
  expect(await claim(trainer, [first!])).toBeUndefined()
  expect(await claim(trainer, [])).toMatchObject({ id: first, attempt: 1 })
  expect(await claim(other, [])).toBeUndefined()
  expect(await renewLease(database.pool, { jobId: first!, attempt: 1, podUid: trainer.podUid })).toBe(true)
  await markDraining(database.pool, { ...baseModel, name: 'another' }, [])
  expect(await claim(other, [])).toBeUndefined()
  await markDraining(database.pool, baseModel, [])
  expect((await claim(other, []))?.id).toBe(second)
})

test('jobs that share a trainer share the cost of its GPUs', async () => {
  const trainer = { ...rows.trainer(), gpus: 4 }
  const [first, second] = await addJobs(2)
  const claimed = [await claim(trainer, []), await claim(trainer, [first!])]
  // The first job started 100 seconds ago and the second 60, so they share 60 seconds.
  for (const [job, seconds] of [[first, 100] as const, [second, 60] as const]) {
    for (const [table, column] of [['jobs', 'id'] as const, ['job_attempts', 'job_id'] as const]) {
      await database.pool.query(
        `UPDATE training.${table} SET claimed_at = claimed_at - make_interval(secs => $2) WHERE ${column} = $1`,
        [job, seconds],
      )
    }
  }
  for (const each of claimed) {
    const attempt = { jobId: each!.id, attempt: 1, podUid: trainer.podUid }
    await recordCheckpoint(database.pool, attempt, checkpointOf(each!))
  }
  const { rows: used } = await database.pool.query<{ seconds: number; gpus: number }>(
    `SELECT training_seconds AS seconds, gpu_seconds AS gpus FROM training.usage
     WHERE base_model = $1 ORDER BY training_seconds DESC`,
    [rows.baseModel],
  )
  // The test itself takes some seconds on a loaded machine.
  const about = (seconds: number) => expect.closeTo(seconds, -1) as number
  expect(used.map(({ seconds, gpus }) => [seconds, gpus / 4])).toEqual([
    [about(100), about(70)],
    [about(60), about(30)],
  ])
})
