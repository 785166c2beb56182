import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { recordEvents } from '../../db/jobs/reports.ts'
import { useApiServer } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import type { Rest } from '../support/rest.ts'
import { checkpointOf, started, TrainingRows } from '../support/training-rows.ts'
import { recordCheckpoint } from '../../db/jobs/reports.ts'

const own = useApiServer()
const entity = `team-${randomUUID()}`

interface Envelope {
  x: string
  exact: boolean
  width: number
  first: number[]
  last_x: number[]
  min: number[]
  max: number[]
  mean: number[]
  last: number[]
  count: number[]
}

interface Metric {
  key: string
  source: string
  count: number
  points: object[]
  envelope?: Envelope
}

let api: Rest
let rows: TrainingRows
let modelId: string
/** The losses of all gradient steps of the model, in order. */
const losses: number[] = []
const jobSteps = [300, 20, 5_000]

/** A value that has a spike somewhere. */
const lossOf = (index: number) => (index === 4_321 ? 1_000 : index === 123 ? -1_000 : Math.sin(index))

async function trainJob(steps: number): Promise<void> {
  const id = await rows.addJob(modelId)
  const { claim, attempt } = await rows.claim()
  expect(claim.id).toBe(id)
  await recordEvents(own.database.pool, attempt, [started])
  for (let seq = 1; seq <= steps; seq += 97) {
    const batch = Array.from({ length: Math.min(97, steps - seq + 1) }, (_, index) => {
      const loss = lossOf(losses.length + index)
      const data = { loss, ...(index % 2 === 0 && { rare: index }), text: 'a', nested: { loss } }
      return { seq: seq + index, type: 'gradient_step', data }
    })
    await recordEvents(own.database.pool, attempt, batch)
    losses.push(...batch.map(({ data }) => data.loss))
  }
  await recordCheckpoint(own.database.pool, attempt, { ...checkpointOf(claim), metrics: { reward: losses.length } })
  await finishJob(own.database.pool, id)
}

const path = (query: string) => `/v1/preview/models/${modelId}/metrics?${query}`
const read = async (query: string) => (await api.call<{ metrics: Metric[] }>('GET', path(query))).metrics
const readOne = async (query: string) => {
  const found = (await read(query)).find(({ source }) => source === 'gradient')
  return found!.envelope!
}

beforeAll(async () => {
  rows = new TrainingRows(own.database.pool, entity)
  modelId = await rows.addModel()
  api = await own.join(entity, 'read')
  for (const steps of jobSteps) await trainJob(steps)
}, 120_000)

// A trainer that did not hear the answer sends its report again.
test('a gradient step that is reported twice counts once', async () => {
  const id = await rows.addModel()
  await rows.addJob(id)
  const { attempt } = await rows.claim()
  const steps = [1, 2, 3].map((seq) => ({ seq, type: 'gradient_step', data: { loss: seq } }))
  await recordEvents(own.database.pool, attempt, [started, ...steps.slice(0, 2)])
  await recordEvents(own.database.pool, attempt, steps)
  const { keys } = await api.call<{ keys: object[] }>('GET', `/v1/preview/models/${id}/metric-keys`)
  expect(keys).toEqual([{ key: 'loss', source: 'gradient', count: 3, last: 3 }])
})

describe('the metrics of a model', () => {
  test('are listed with their last values', async () => {
    const { keys } = await api.call<{ keys: object[] }>('GET', `/v1/preview/models/${modelId}/metric-keys`)
    expect(keys).toEqual([
      { key: 'loss', source: 'gradient', count: 5_320, last: losses.at(-1) },
      { key: 'rare', source: 'gradient', count: expect.any(Number), last: expect.any(Number) },
      { key: 'reward', source: 'training', count: 3, last: 5_320 },
    ])
  })

  test('are as they are if they are few', async () => {
    const { exact, width, first, min, max, mean, last, count } = await readOne('keys=loss&points=4000&x=index&to=3999')
    const wanted = losses.slice(0, 4_000)
    expect({ exact, width, min, max, mean, last }).toEqual({
      exact: true,
      width: 1,
      min: wanted,
      max: wanted,
      mean: wanted,
      last: wanted,
    })
    expect(first).toEqual(wanted.map((_, index) => index))
    expect(count).toEqual(wanted.map(() => 1))
  })

  test.each([2, 3, 50, 333, 1_000])('in %i buckets keep both spikes', async (points) => {
    const envelope = await readOne(`keys=loss&points=${points}&x=index`)
    expect(envelope.first.length).toBeLessThanOrEqual(points)
    expect([Math.min(...envelope.min), Math.max(...envelope.max)]).toEqual([-1_000, 1_000])
    expect(envelope.count.reduce((sum, each) => sum + each, 0)).toBe(5_320)
    const sum = envelope.mean.reduce((all, mean, index) => all + mean * envelope.count[index]!, 0)
    expect(sum).toBeCloseTo(losses.reduce((all, loss) => all + loss, 0))
    expect([envelope.exact, envelope.last.at(-1)]).toEqual([false, losses.at(-1)])
  })

  test('are refined in a part of the chart', async () => {
    const envelope = await readOne('keys=loss&points=500&x=index&from=4300&to=4350')
    expect(envelope).toMatchObject({ exact: true, first: Array.from({ length: 51 }, (_, index) => 4_300 + index) })
    expect(envelope.max).toEqual(losses.slice(4_300, 4_351))
  })

  test('are chosen by step and by time', async () => {
    const ofStep = await readOne('keys=loss&points=4000&x=step&from=2&to=2')
    expect([ofStep.count.length, new Set(ofStep.first), ofStep.max]).toEqual([20, new Set([2]), losses.slice(300, 320)])
    const { rows: found } = await own.database.pool.query<{ at: Date }>(
      'SELECT created_at AS at FROM training.events WHERE model_id = $1 AND model_index = 320',
      [modelId],
    )
    const before = await readOne(`keys=loss&points=4000&x=time&to=${found[0]!.at.getTime() - 1}`)
    expect(before.count).toHaveLength(320)
    expect(before.first[0]).toBeGreaterThan(Date.now() - 600_000)
  })

  test('of checkpoints are beside them, by step', async () => {
    const [reward] = await read('keys=reward&points=100')
    expect(reward).toMatchObject({
      source: 'training',
      count: 3,
      envelope: { first: [1, 2, 3], max: [300, 320, 5_320] },
    })
    const joined = (await read('keys=reward&points=2'))[0]!.envelope!
    expect([joined.first.length <= 2, joined.max.at(-1), joined.min[0]]).toEqual([true, 5_320, 300])
  })

  test('are read in few rows, however many there are', async () => {
    const { rows: widths } = await own.database.pool.query(
      'SELECT width, count(*)::integer AS count FROM training.metric_buckets WHERE model_id = $1 GROUP BY 1 ORDER BY 1',
      [modelId],
    )
    expect(widths).toEqual([
      { width: 16, count: 332 },
      { width: 256, count: 20 },
      { width: 4_096, count: 1 },
    ])
  })

  test('without points are what they were', async () => {
    expect(await read('keys=reward')).toEqual([
      {
        key: 'reward',
        source: 'training',
        count: 3,
        points: [1, 2, 3].map((step) => ({ step, value: [300, 320, 5_320][step - 1] })),
      },
    ])
  })

  test.each([
    ['keys=loss&points=1', 422],
    ['keys=loss&points=4001', 422],
    ['keys=loss&points=2&x=tokens', 422],
    ['keys=loss&points=2&from=-1', 422],
    ['keys=loss&points=2&from=NaN', 422],
    [`keys=${Array.from({ length: 51 }, (_, index) => index).join(',')}&points=2`, 422],
    ['keys=none&points=2', 200],
    ['keys=loss&points=2&x=index&from=9&to=3', 200],
    ['keys=loss&points=2&x=time&from=8640000000000000', 200],
    ['keys=loss&points=2&x=step&from=8640000000000000&to=8640000000000000', 200],
  ])('%s is %i', async (query, status) => {
    expect((await api.send('GET', path(query))).status).toBe(status)
  })

  test('are only for their entity', async () => {
    const other = await own.join(`team-${randomUUID()}`)
    for (const target of [path('keys=loss&points=2'), `/v1/preview/models/${modelId}/metric-keys`])
      expect((await other.send('GET', target)).status).toBe(404)
  })
})

test('a job that is given to another trainer goes on with the numbers of its model', async () => {
  const model = await rows.addModel()
  const job = await rows.addJob(model)
  const { attempt } = await rows.claim()
  const step = (seq: number) => ({ seq, type: 'gradient_step', data: { loss: seq } })
  await recordEvents(own.database.pool, attempt, [started, step(1), step(2)])
  await rows.expireLease(job)
  await rows.releaseExpiredLeases()
  const { attempt: second } = await rows.claim()
  await recordEvents(own.database.pool, second, [started, step(1), step(2), step(3)])
  const { rows: numbers } = await own.database.pool.query(
    'SELECT seq, model_index::integer AS index FROM training.events WHERE model_id = $1 ORDER BY seq',
    [model],
  )
  expect(numbers).toEqual([
    { seq: 1, index: 0 },
    { seq: 2, index: 1 },
    { seq: 3, index: 2 },
  ])
})
