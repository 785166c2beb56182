import { beforeEach, expect, test } from 'vitest'
import { setPaused } from '../../db/accounts/pauses.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { useApiServer } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import { type Rest } from '../support/rest.ts'
import { addTrainingEntity } from '../support/training-entity.ts'
import type { TrainingRows } from '../support/training-rows.ts'

const own = useApiServer()
let rows: TrainingRows
let api: Rest
// All times of a test count from its begin, so that it may take some.
let begun: Date

beforeEach(async () => {
  ;({ rows, api } = await addTrainingEntity(own))
  begun = new Date()
})

interface Job {
  waiting: { reason: string; estimated_start_at: string | null }
}

const readWaiting = async (id: string) => (await api.call<Job>('GET', `/v1/preview/training-jobs/${id}`)).waiting

/** How many seconds after the begin of the test a job probably starts, to the next five; null if nothing is said. */
async function estimate(id: string): Promise<number | null> {
  const { estimated_start_at: time } = await readWaiting(id)
  return time === null ? null : Math.round((Date.parse(time) - begun.getTime()) / 5_000) * 5
}

/** Trains jobs of a model that took this many seconds, and ten more until they were published. */
async function addPast(modelId: string, ...durations: number[]): Promise<void> {
  for (const seconds of durations) {
    const id = await rows.addJob(modelId)
    await rows.train(id)
    await finishJob(own.database.pool, id)
    await own.database.pool.query(
      `UPDATE training.jobs SET claimed_at = finished_at - make_interval(secs => $2 + 10),
         trained_at = finished_at - interval '10 s', queued_at = finished_at - make_interval(secs => $2 + 40)
       WHERE id = $1`,
      [id, seconds],
    )
  }
}

/** Claims the next job, as if that had been so many seconds before the test. */
async function claim(secondsBefore: number): Promise<string> {
  const { id } = (await rows.claim()).claim
  await own.database.pool.query(
    'UPDATE training.jobs SET claimed_at = $3::timestamptz - make_interval(secs => $2) WHERE id = $1',
    [id, secondsBefore, begun],
  )
  return id
}

test('a job that waits for a trainer says when it probably starts, from what past jobs of its base model took', async () => {
  const past = await rows.addModel()
  await rows.addJob(await rows.addModel())
  await claim(100)
  const [first, second] = [await rows.addJob(await rows.addModel()), await rows.addJob(await rows.addModel())]
  expect([await estimate(first), await estimate(second)]).toEqual([null, null])
  await own.database.pool.query(`UPDATE training.jobs SET priority = -1 WHERE id = ANY ($1)`, [[first, second]])
  await addPast(past, 590, 600, 610)
  expect([await estimate(first), await estimate(second)]).toEqual([500, 1100])
  // With another trainer at work, they start sooner.
  await rows.addJob(await rows.addModel(), { priority: 1 })
  await claim(400)
  expect([await estimate(first), await estimate(second)]).toEqual([200, 500])
  const { data } = await api.call<{ data: object[] }>('GET', '/v1/preview/training-jobs')
  expect(JSON.stringify(data)).not.toContain('estimated_start_at')
})

test('a job that waits for its model starts after the jobs before it, which take as long as its model usually does', async () => {
  const model = await rows.addModel()
  await addPast(await rows.addModel(), 10, 10, 10, 10)
  await addPast(model, 90, 90, 90)
  const [active, second, third] = [await rows.addJob(model), await rows.addJob(model), await rows.addJob(model)]
  expect(await claim(60)).toBe(active)
  expect([await estimate(second), await estimate(third)]).toEqual([40, 140])
  // Six other models wait for the one trainer, whose jobs take ten seconds by the median of all.
  await addPast(await rows.addModel(), 10, 10, 10, 10)
  for (let count = 0; count < 6; count++) await rows.addJob(await rows.addModel())
  await own.database.pool.query('UPDATE training.jobs SET claimed_at = $2 WHERE id = $1', [active, begun])
  expect([await estimate(second), await estimate(third)]).toEqual([100 + 60, 100 + 60 + 100 + 60])
})

test('what past jobs of another base model, of another mode, with several attempts or without success took says nothing', async () => {
  await addPast(await rows.addModel(), 600, 600, 600)
  await rows.addJob(await rows.addModel())
  await claim(100)
  const waiting = await rows.addJob(await rows.addModel())
  expect(await estimate(waiting)).toBe(500)
  for (const change of ["mode = 'Dedicated'", "mode = 'Warm', attempt = 2", "attempt = 1, state = 'Failed'"]) {
    await own.database.pool.query(`UPDATE training.jobs SET ${change} WHERE state = 'Succeeded' AND entity = $1`, [
      rows.entity,
    ])
    expect(await estimate(waiting)).toBeNull()
  }
})

test('what needs more than time has no estimate', async () => {
  await addPast(await rows.addModel(), 600, 600, 600)
  await rows.addJob(await rows.addModel())
  await claim(100)
  const model = await rows.addModel()
  const first = await rows.addJob(model)
  const second = await rows.addJob(model)
  expect([await estimate(first), await estimate(second)]).toEqual([500, 1110])
  const { pool } = own.database
  const pause = (isPaused: boolean) =>
    setPaused(pool, { entity: rows.entity, byAdministrator: false, actor: 'test' }, isPaused)
  await pause(true)
  expect([await estimate(first), await estimate(second)]).toEqual([null, null])
  await pause(false)
  await pool.query(`UPDATE training.jobs SET state = 'Pending' WHERE id = $1`, [first])
  expect([await estimate(first), await estimate(second)]).toEqual([null, null])
  await queueJob(pool, first)
  await pool.query(`UPDATE training.base_models SET trainer_trouble = 'InsufficientGPU' WHERE name = $1`, [
    rows.baseModel,
  ])
  expect(await estimate(first)).toBeNull()
})

test('a job with pods of its own starts as long after its turn as past ones did', async () => {
  const { pool } = own.database
  for (let count = 0; count < 3; count++) await addPast(await rows.addModel(), 600)
  await pool.query(
    `UPDATE training.jobs SET mode = 'Dedicated', queued_at = claimed_at - interval '2 min' WHERE entity = $1`,
    [rows.entity],
  )
  const model = await rows.addModel()
  const [first, second] = [await rows.addJob(model), await rows.addJob(model)]
  await pool.query(
    `UPDATE training.jobs SET mode = 'Dedicated', queued_at = $2::timestamptz - interval '20 s' WHERE model_id = $1`,
    [model, begun],
  )
  expect([await estimate(first), await estimate(second)]).toEqual([100, 100 + 610 + 120])
  // A job before it has just ended: its turn began then, and not when it was queued.
  await pool.query(
    `UPDATE training.jobs SET state = 'Cancelled', finished_at = $2::timestamptz - interval '5 s' WHERE id = $1`,
    [first, begun],
  )
  expect(await estimate(second)).toBe(115)
})
