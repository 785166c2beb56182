import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failJob } from '../../db/jobs/endings.ts'
import { recordCheckpoint, recordEvents, recordFailure, recordRelease } from '../../db/jobs/reports.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import { checkpointOf, started, TrainingRows } from '../support/training-rows.ts'
import { askGraphql, streamFiles, upsertRun } from '../support/wandb.ts'

// The rows that the service writes into the runs of models for SFT jobs, as ART asks it to.

const own = useApiServer()
const entity = 'team'
let api: { url: string; key: string }
let rows: TrainingRows
let modelId: string
let name: string

beforeAll(async () => {
  api = { url: own.server.url, key: await addKey(own.database.pool, entity) }
})

beforeEach(async () => {
  rows = new TrainingRows(own.database.pool, entity)
  modelId = await rows.addModel()
  name = await nameOf(modelId)
})

async function nameOf(id: string): Promise<string> {
  const query = 'SELECT name FROM training.models WHERE id = $1'
  return (await own.database.pool.query<{ name: string }>(query, [id])).rows[0]!.name
}

const step = (seq: number) => {
  const data = { loss: 1 / seq, learning_rate: 0.5, num_trajectories: 2, num_tokens: 9, tokens_per_second: 3 }
  return { seq, type: 'gradient_step', data: { ...data, num_trainable_tokens: 4 * seq } }
}

const stepRow = (seq: number, training_step = 5) => ({
  'sft/gradient_step': seq,
  'sft/loss/train': 1 / seq,
  'sft/loss/learning_rate': 0.5,
  'sft/data/step_num_trajectories': 2,
  'sft/num_tokens': 9,
  'sft/data/step_trainable_assistant_tokens': 4 * seq,
  training_step,
})

const means = { loss: 0.75, learning_rate: 0.5, num_trajectories: 2, num_tokens: 9, num_trainable_tokens: 6 }
const meansRow = {
  'loss/train': 0.75,
  'loss/learning_rate': 0.5,
  'data/step_num_trajectories': 4,
  'train/num_tokens': 9,
  'data/step_trainable_assistant_tokens': 6,
  'data/step_num_gradient_steps': 2,
  'time/step_backend_train_s': expect.any(Number) as unknown,
  training_step: 5,
}

const logging = { learning_rate: 0.1, metric_logging: { enabled: true, target_training_step: 5 } }
const addJob = (config: object = logging, method: 'RL' | 'SFT' = 'SFT') => rows.addJob(modelId, { method, config })

/** Trains a job with two steps, as a trainer that hears each answer twice too late. */
async function train(jobId: string): Promise<void> {
  const { claim, attempt } = await rows.claim()
  const { pool } = own.database
  for (let times = 0; times < 2; times++) await recordEvents(pool, attempt, [started, step(1)])
  for (let times = 0; times < 2; times++) await recordEvents(pool, attempt, [step(1), step(2)])
  for (let times = 0; times < 2; times++)
    await recordCheckpoint(pool, attempt, { ...checkpointOf(claim), metrics: { ...means, tokens_per_second: 1 } })
  expect(await finishJob(pool, jobId)).toBe(true)
}

type Row = Record<string, unknown>

/** Reads fields of the model's run. Null if there is none. */
async function read<Fields extends Row>(fields: string): Promise<Fields | null> {
  const query = `query R($name: String!) { project(name: "project") { run(name: $name) { ${fields} } } }`
  return (await askGraphql<{ project: { run: Fields | null } | null }>(api, query, { name })).project?.run ?? null
}

/** All rows in their order, without the times at which they were written. */
async function readRows(): Promise<Row[] | undefined> {
  const run = await read<{ history: string[] }>('history(minStep: 0, maxStep: 1000)')
  return run?.history.map((line) => {
    const { _timestamp, ...row } = JSON.parse(line) as Row
    return row
  })
}

const numbered = (list: Row[], first = 0) => list.map((row, index) => ({ ...row, _step: first + index }))

/** Writes lines as a client does that has this many so far. */
async function stream(offset: number, steps: number[], rest: object = {}): Promise<void> {
  const content = steps.map((_step) => JSON.stringify({ 'val/reward': _step, _step }))
  const body = { files: { 'wandb-history.jsonl': { offset, content } }, ...rest }
  const response = await streamFiles(api, { entity, project: 'project', run: name }, body)
  expect(response.status).toBe(200)
}

const clientRows = (...steps: number[]) => steps.map((_step) => ({ 'val/reward': _step, _step }))

describe('an SFT job whose client leaves its metrics to the service', () => {
  test('has a row for each step, and one of their means, in a run that has ended', async () => {
    await train(await addJob())
    expect(await readRows()).toEqual(numbered([stepRow(1), stepRow(2), meansRow]))
    expect(await read('state historyLineCount historyKeys')).toMatchObject({
      state: 'finished',
      historyLineCount: 0,
      historyKeys: {
        keys: {
          'sft/loss/train': { typeCounts: [{ type: 'number', count: 2 }] },
          training_step: { typeCounts: [{ count: 3 }] },
        },
        lastStep: 2,
      },
    })
    const summary = JSON.parse((await read<{ summaryMetrics: string }>('summaryMetrics'))!.summaryMetrics) as Row
    expect(summary).toEqual({ ...stepRow(2), ...meansRow })
  })

  test('has them in the run over REST, and among the metrics of the model', async () => {
    await train(await addJob())
    const rest = await own.join(entity, 'read')
    const { data } = await rest.call<{ data: object[] }>('GET', `/v1/preview/runs?project=project&name=${name}`)
    expect(data).toMatchObject([{ name, model_id: modelId, state: 'finished', history_lines: 3, last_step: 2 }])
    const keys = 'sft/loss/train,loss/train,loss'
    const { metrics } = await rest.call<{ metrics: object[] }>(
      'GET',
      `/v1/preview/models/${modelId}/metrics?keys=${keys}`,
    )
    expect(metrics).toEqual([
      { key: 'loss', source: 'training', count: 1, points: [{ step: 1, value: 0.75 }] },
      { key: 'loss/train', source: 'logged', count: 1, points: [{ step: 5, value: 0.75 }] },
      { key: 'sft/loss/train', source: 'logged', count: 2, points: [1, 0.5].map((value) => ({ step: 5, value })) },
    ])
  })

  test('has its rows once, whatever happens to its attempts', async () => {
    const job = await addJob()
    const first = await rows.claim()
    await recordEvents(own.database.pool, first.attempt, [started, step(1)])
    await recordFailure(own.database.pool, first.attempt, {
      category: 'Internal',
      reason: 'CudaOutOfMemory',
      message: 'out of memory',
      retryable: true,
    })
    const second = await rows.claim()
    await recordEvents(own.database.pool, second.attempt, [started, step(1)])
    await recordRelease(own.database.pool, second.attempt)
    await train(job)
    expect(await readRows()).toEqual(numbered([stepRow(1), stepRow(2), meansRow]))
  })

  test('has the rows of its steps if it fails', async () => {
    const job = await addJob()
    const { attempt } = await rows.claim()
    await recordEvents(own.database.pool, attempt, [started, step(1)])
    await failJob(own.database.pool, job, { category: 'User', reason: 'Broken', message: 'broken', retryable: false })
    expect(await readRows()).toEqual(numbered([stepRow(1)]))
  })

  test('has a row exactly if it has the event', async () => {
    const { pool } = own.database
    const job = await addJob()
    const { attempt } = await rows.claim()
    await pool.query('ALTER TABLE training.run_lines RENAME TO away')
    const failed = recordEvents(pool, attempt, [started, step(1)])
    await expect(failed).rejects.toThrow('run_lines')
    await pool.query('ALTER TABLE training.away RENAME TO run_lines')
    expect([await rows.listEvents(job), await readRows()]).toEqual([[], undefined])
    await recordEvents(pool, attempt, [started, step(1)])
    expect(await readRows()).toEqual(numbered([stepRow(1)]))
  })

  test('has rows of the step that it makes, if the client names none', async () => {
    await addJob({ metric_logging: { enabled: true } })
    const { claim, attempt } = await rows.claim()
    await recordEvents(own.database.pool, attempt, [started, step(1)])
    expect(await readRows()).toEqual(numbered([stepRow(1, claim.step)]))
  })

  test('without steps has no row', async () => {
    await addJob()
    const { claim, attempt } = await rows.claim()
    await recordEvents(own.database.pool, attempt, [started])
    await recordCheckpoint(own.database.pool, attempt, { ...checkpointOf(claim), metrics: {} })
    expect(await readRows()).toBeUndefined()
  })
})

test.each([
  ['is not enabled', 'SFT', { metric_logging: { enabled: false, target_training_step: 5 } }],
  ['is absent', 'SFT', {}],
  ['is null', 'SFT', { metric_logging: null }],
  ['is of an RL job', 'RL', logging],
] as const)('a job writes no rows if the setting %s', async (_, method, config) => {
  await train(await addJob(config, method))
  expect(await readRows()).toBeUndefined()
})

describe('a client of the same run', () => {
  test('that writes meanwhile, and sends lines again, loses none and removes none', async () => {
    await upsertRun(api, { modelName: 'project', name })
    await stream(0, [0, 1])
    await train(await addJob())
    await stream(1, [1, 2])
    await stream(3, [9], { complete: true, exitcode: 0 })
    const [first, second, third] = numbered([stepRow(1), stepRow(2), meansRow], 2)
    expect(await readRows()).toEqual([...clientRows(0, 1), first, ...clientRows(2), second, third, ...clientRows(9)])
    expect(await read('state historyLineCount')).toEqual({ state: 'finished', historyLineCount: 4 })
  })

  test('that resumes it goes on after its own lines, and after the step of the last row', async () => {
    await upsertRun(api, { modelName: 'project', name })
    await stream(0, [0, 1], { complete: true, exitcode: 0 })
    await train(await addJob())
    const known = await read<{ historyLineCount: number; historyTail: string }>('historyLineCount historyTail')
    const tail = (JSON.parse(known!.historyTail) as string[]).map((line) => JSON.parse(line) as Row)
    expect([known!.historyLineCount, tail.map(({ _step }) => _step)]).toEqual([2, [4]])
    await stream(2, [5])
    expect(await readRows()).toEqual([
      ...clientRows(0, 1),
      ...numbered([stepRow(1), stepRow(2), meansRow], 2),
      ...clientRows(5),
    ])
  })

  test('that begins it again removes its own lines only', async () => {
    await upsertRun(api, { modelName: 'project', name })
    await stream(0, [0, 1], { complete: true, exitcode: 0 })
    await train(await addJob())
    await stream(0, [0])
    expect(await readRows()).toEqual([...clientRows(0), ...numbered([stepRow(1), stepRow(2), meansRow], 2)])
    expect(await read('historyLineCount historyKeys')).toMatchObject({
      historyLineCount: 1,
      historyKeys: { lastStep: 4 },
    })
  })
})
