import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { claimJob } from '../../db/jobs/claims.ts'
import { cancelJob } from '../../db/jobs/endings.ts'
import { listQueuePositions } from '../../db/jobs/queue.ts'
import { useTestDatabase } from '../support/database.ts'
import { FairOrderModel } from './fair-order-model.ts'
import { createRandom } from '../clients/weave-differential/random.ts'
import { chooseCases } from '../support/random-cases.ts'
import { TrainingRows } from '../support/training-rows.ts'

const database = useTestDatabase()
let baseModel: string

beforeEach(() => {
  baseModel = `test/${randomUUID()}`
})

const rowsOf = (entity: string) => new TrainingRows(database.pool, entity, baseModel)

/** An entity of the test's own, with jobs that each have a model of their own. */
async function addEntity(name: string, { weight = 1, jobs = 0 } = {}): Promise<TrainingRows> {
  const entity = `${name}-${randomUUID()}`
  await database.pool.query('INSERT INTO auth.entities (entity, weight) VALUES ($1, $2)', [entity, weight])
  const rows = rowsOf(entity)
  for (let count = 0; count < jobs; count++) await addJob(rows)
  return rows
}

const addJob = async (rows: TrainingRows, priority = 0) => rows.addJob(await rows.addModel(), { priority })

/** Claims with a trainer of its own. */
const claim = async () => claimJob(database.pool, rowsOf('').trainer())

const claimAll = async () => {
  const ids: string[] = []
  for (let next = await claim(); next; next = await claim()) ids.push(next.id)
  return ids
}

/** Cancels a claimed job, as if its trainer had worked on it for this long. */
async function end(jobId: string, seconds: number): Promise<void> {
  await database.pool.query(
    `UPDATE training.jobs SET claimed_at = clock_timestamp() - interval '1 day',
       lease_expires_at = clock_timestamp() - interval '1 day' + make_interval(secs => $2) WHERE id = $1`,
    [jobId, seconds],
  )
  await cancelJob(database.pool, jobId)
}

// More rows in a statement would take longer than statements may on a busy machine.
const rowsOfStatement = 200

/** Adds jobs, spread over models. */
async function addManyJobs(rows: TrainingRows, count: number, { models = count, priority = 0 } = {}): Promise<void> {
  const ids: string[] = []
  while (ids.length < models) ids.push(...(await addModels(rows, Math.min(rowsOfStatement, models - ids.length))))
  for (let first = 0; first < count; first += rowsOfStatement) {
    const ofJobs = Array.from({ length: rowsOfStatement }, (_, index) => ids[(first + index) % models]!)
    await database.pool.query(
      `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, max_attempts, spec_digest,
         namespace, cr_name, priority)
       SELECT model_id, 'RL', 'artifact:///payloads/team/0a.json', '0a', '{}', 'Queued', 6, '0b', 'trainyard',
         gen_random_uuid(), $2
       FROM unnest($1::uuid[]) AS job (model_id)`,
      [ofJobs, priority],
    )
  }
  await database.pool.query('ANALYZE training.jobs, training.models')
}

async function addModels(rows: TrainingRows, count: number): Promise<string[]> {
  const { rows: added } = await database.pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     SELECT $1, 'project', gen_random_uuid(), $2, 'trainyard', gen_random_uuid() FROM generate_series(1, $3)
     RETURNING id`,
    [rows.entity, rows.baseModel, count],
  )
  return added.map(({ id }) => id)
}

describe('an entity with 10,000 jobs', () => {
  test.each([1, 10_000])('of %d models delays the first job of another one by no claim', async (models) => {
    const many = await addEntity('many')
    await addManyJobs(many, 10_000, { models, priority: 1000 })
    await claim()
    const first = await addJob(await addEntity('first'), -1000)
    expect((await listQueuePositions({ pool: database.pool, defaultGpuSeconds: Infinity })).get(first)).toMatchObject({
      ahead: 0,
      position: 1,
    })
    expect((await claim())?.id).toBe(first)
  })

  test('that ended sooner than expected delays the next job of another one by no claim', async () => {
    const [many, other] = [await addEntity('many', { jobs: 20 }), await addEntity('other', { jobs: 1 })]
    await end((await claim())!.id, 60)
    await end((await claim())!.id, 60)
    const claims = [await claim(), await claim(), await claim(), await claim()]
    for (const each of claims) await end(each!.id, 1)
    const next = await addJob(other)
    expect(claims.map((each) => each?.entity)).toEqual(Array<string>(4).fill(many.entity))
    expect((await claim())?.id).toBe(next)
  })
})

describe('between entities', () => {
  test('GPU seconds are shared by weight, whatever the jobs take', async () => {
    const seconds = { heavy: 100, light: 20 }
    const heavy = await addEntity('heavy', { weight: 2, jobs: 70 })
    await addEntity('light', { jobs: 200 })
    const used = { heavy: 0, light: 0 }
    for (let round = 0; round < 90; round++) {
      const claimed = await claim()
      const name = claimed!.entity === heavy.entity ? 'heavy' : 'light'
      await end(claimed!.id, seconds[name])
      used[name] += seconds[name]
    }
    expect(used.heavy / used.light).toBeCloseTo(2, 0)
  })

  test('the priorities that they give themselves do not matter', async () => {
    const [modest, pushy] = [await addEntity('modest'), await addEntity('pushy')]
    const jobs = [
      await addJob(modest, -1000),
      await addJob(pushy, 999),
      await addJob(modest, -999),
      await addJob(pushy, 1000),
    ]
    const [modestLast, pushyLast, modestFirst, pushyFirst] = jobs
    // Equal starts: in order of arrival.
    expect(await claimAll()).toEqual([modestFirst, pushyFirst, modestLast, pushyLast])
  })

  test('an entity that was idle has no credit for that time', async () => {
    const [busy, idle] = [await addEntity('busy', { jobs: 30 }), await addEntity('idle', { jobs: 1 })]
    for (let round = 0; round < 20; round++) await end((await claim())!.id, 60)
    for (let count = 0; count < 10; count++) await addJob(idle)
    const claimed: string[] = []
    for (let round = 0; round < 8; round++) claimed.push((await claim())!.entity)
    const ofBusy = claimed.filter((entity) => entity === busy.entity)
    // Half of them, or one more or less: some starts differ only by microseconds.
    expect(Math.abs(ofBusy.length - 4)).toBeLessThanOrEqual(1)
  })

  test('a job with pods of its own neither waits for them nor costs their turns', async () => {
    const rows = await addEntity('own-pods', { jobs: 1 })
    const dedicated = await addJob(rows)
    await database.pool.query(`UPDATE training.jobs SET mode = 'Dedicated' WHERE id = $1`, [dedicated])
    expect((await claimJob(database.pool, { ...rows.trainer(), jobId: dedicated }))?.id).toBe(dedicated)
    await end(dedicated, 3600)
    const { rowCount } = await database.pool.query('SELECT FROM training.entity_queues WHERE entity = $1', [
      rows.entity,
    ])
    expect(rowCount).toBe(0)
  })
})

describe('within an entity', () => {
  test('models come by priority, and then in order of arrival', async () => {
    const rows = await addEntity('team')
    const jobs = [await addJob(rows), await addJob(rows, 5), await addJob(rows, -5), await addJob(rows, 5)]
    expect(await claimAll()).toEqual([jobs[1], jobs[3], jobs[0], jobs[2]])
  })

  test('an important job hurries the earlier jobs of its model, and passes none of them', async () => {
    const rows = await addEntity('team')
    const other = await addJob(rows, 1)
    const model = await rows.addModel()
    const [before, important] = [await rows.addJob(model, { priority: -9 }), await rows.addJob(model, { priority: 9 })]
    const first = await claim()
    expect(first?.id).toBe(before)
    await end(before, 1)
    expect(await claimAll()).toEqual([important, other])
  })
})

const positionCases = chooseCases(1)
const positionSeeds = Array.from({ length: positionCases.numRuns }, (_, index) => positionCases.seed + index)

test.each(positionSeeds)('places are the order of the next claims, with seed %d', async (seed) => {
  const entities = [await addEntity('a', { weight: 2 }), await addEntity('b'), await addEntity('c')]
  const random = createRandom(seed)
  const jobs: string[] = []
  for (let count = 0; count < 40; count++) jobs.push(await addJob(entities[random.int(3)]!, random.int(3)))
  // Of equal durations, entities would have equal starts, whose order is that of rounding.
  for (let count = 0; count < 6; count++) await end((await claim())!.id, 40 + random.int(40))
  const positions = await listQueuePositions({ pool: database.pool, defaultGpuSeconds: Infinity })
  const placed = jobs
    .filter((id) => positions.has(id))
    .toSorted((a, b) => positions.get(a)!.position - positions.get(b)!.position)
  expect(placed).toHaveLength(34)
  expect(await claimAll()).toEqual(placed)
})

test('claims and ends of several entities at the same time wait for each other in no circle', async () => {
  for (const name of ['a', 'b']) await addEntity(name, { jobs: 30 })
  const work = async () => {
    const claimed: string[] = []
    // Each process of the pod loses the jobs of the one before it, and releases them with its first claim.
    const pod = randomUUID()
    for (let round = 0; round < 10; round++) {
      const trainer = rowsOf('').trainer(pod)
      const held: string[] = []
      for (let job = await claimJob(database.pool, { ...trainer, holding: [] }); job && held.length < 2;) {
        held.push(job.id)
        claimed.push(job.id)
        job = await claimJob(database.pool, { ...trainer, holding: held })
      }
    }
    return claimed
  }
  const claimed = (await Promise.all(Array.from({ length: 8 }, work))).flat()
  expect(claimed.length).toBeGreaterThan(16)
})

test('an entity whose row was erased keeps its place', async () => {
  const rows = await addEntity('erased', { jobs: 2 })
  await end((await claim())!.id, 3600)
  await database.pool.query('DELETE FROM training.entity_queues WHERE entity = $1', [rows.entity])
  expect(await claimAll()).toHaveLength(1)
})

test('random jobs of entities: each claim is the one of start-time fair queueing, and nobody starves', async () => {
  const { seed, numRuns } = chooseCases(150)
  const random = createRandom(seed)
  const weights = [1, 2, 4, 1]
  const entities = await Promise.all(weights.map((weight) => addEntity('random', { weight })))
  const expected = new FairOrderModel(new Map(entities.map(({ entity }, index) => [entity, weights[index]!])))
  const models = await Promise.all(
    entities.map((rows) => Promise.all(Array.from({ length: 6 }, () => rows.addModel()))),
  )
  const add = async () => {
    const entity = random.int(entities.length)
    const model = models[entity]![random.int(6)]!
    const priority = random.int(5) - 2
    const id = await entities[entity]!.addJob(model, { priority })
    expected.add({ id, entity: entities[entity]!.entity, model, priority })
  }
  for (let round = 0; round < numRuns; round++) {
    // The first entity always has jobs; most rounds belong to it.
    while (expected.waiting < 12) await add()
    const claimed = await claim()
    expect({ round, seed, error: expected.check(claimed?.id) }).toEqual({ round, seed, error: undefined })
    while (expected.running.length > random.int(4)) {
      const id = expected.running[random.int(expected.running.length)]!
      const seconds = 1 + random.int(600)
      await end(id, seconds)
      expected.end(id, seconds)
    }
  }
  // A turn of each other entity, by its weight, and those that were claimed concurrently by estimates.
  expect(expected.maxWait).toBeLessThan(60)
})
