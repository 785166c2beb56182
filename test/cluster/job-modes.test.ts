import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { recordCheckpoint } from '../../db/jobs/reports.ts'
import { markSuspended, resumeJob, wantSuspended } from '../../db/jobs/suspension.ts'
import { useApiServer } from '../support/api-server.ts'
import { type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { addTrainingEntity } from '../support/training-entity.ts'
import { checkpointOf, type TrainingRows } from '../support/training-rows.ts'

const stack = useStack()
const own = useApiServer()
const path = '/v1/preview/training-jobs'
let rows: TrainingRows
let api: Rest

beforeEach(async () => {
  ;({ rows, api } = await addTrainingEntity(own))
})

interface Job {
  state: string
  mode: string
  suspend: boolean
  queue: { reason: string } | null
  waiting: { reason: string } | null
}

const read = (id: string) => api.call<Job>('GET', `${path}/${id}`)
const ask = async (id: string, operation: 'suspend' | 'resume') => {
  const response = await api.send('POST', `${path}/${id}/${operation}`)
  return { status: response.status, body: await response.text() }
}
const post = (modelId: string, more: object) =>
  api.send('POST', path, { model_id: modelId, trajectory_groups: [], ...more })
const readSpec = async (id: string) => {
  const list = await stack.kubectl('get', 'tj', '-n', 'trainyard', '-l', `trainyard.dev/id=${id}`, '-o', 'json')
  return (JSON.parse(list) as { items: TrainingJob[] }).items[0]?.spec
}

test('a job has the mode of its request, or that of its base model, and its resource says so', async () => {
  const model = await rows.addModel()
  const create = async (more: object) => ((await (await post(model, more)).json()) as { id: string }).id
  const warm = await create({})
  const dedicated = await create({ mode: 'Dedicated', queue_name: 'gpus' })
  await own.database.pool.query("UPDATE training.base_models SET default_mode = 'Dedicated' WHERE name = $1", [
    rows.baseModel,
  ])
  const byDefault = await create({})
  expect((await Promise.all([warm, dedicated, byDefault].map(read))).map(({ mode }) => mode)).toEqual([
    'Warm',
    'Dedicated',
    'Dedicated',
  ])
  expect(await readSpec(warm)).toMatchObject({ mode: 'Warm' })
  expect(await readSpec(dedicated)).toMatchObject({ mode: 'Dedicated', queueName: 'gpus' })
  const rejected = await post(model, { mode: 'Warm', queue_name: 'gpus' })
  expect({ status: rejected.status, text: await rejected.text() }).toEqual({
    status: 422,
    text: expect.stringContaining('only a job with the mode Dedicated can wait in a queue') as string,
  })
})

test('a job with pods of its own is Suspending, then Suspended, and goes on; the list knows its states', async () => {
  const id = await rows.addJob(await rows.addModel(), { state: 'Pending' })
  await own.database.pool.query("UPDATE training.jobs SET mode = 'Dedicated' WHERE id = $1", [id])
  await queueJob(own.database.pool, id)
  expect(await read(id)).toMatchObject({ queue: { reason: 'WaitingForPod' }, waiting: { reason: 'WaitingForPod' } })
  expect((await ask(id, 'suspend')).status).toBe(200)
  expect(await read(id)).toMatchObject({ state: 'Suspending', suspend: true, queue: null })
  // What the operator does.
  await wantSuspended(own.database.pool, id, { suspend: true, asked: true })
  await markSuspended(own.database.pool, id)
  expect(await read(id)).toMatchObject({ state: 'Suspended', suspend: true })
  const listed = await api.call<{ data: { id: string }[] }>('GET', `${path}?state=Suspended`)
  expect(listed.data.map((job) => job.id)).toEqual([id])
  expect((await ask(id, 'resume')).status).toBe(200)
  expect(await read(id)).toMatchObject({ state: 'Queued', suspend: false })
  await wantSuspended(own.database.pool, id, { suspend: false, asked: false })
  await resumeJob(own.database.pool, id)
  expect((await ask(id, 'resume')).status).toBe(200)
  expect(await read(id)).toMatchObject({ state: 'Queued', suspend: false })
})

test('a newer wish is kept while the operator writes an older one', async () => {
  const id = await rows.addJob(await rows.addModel())
  await own.database.pool.query("UPDATE training.jobs SET mode = 'Dedicated' WHERE id = $1", [id])
  await ask(id, 'suspend')
  await ask(id, 'resume')
  await wantSuspended(own.database.pool, id, { suspend: true, asked: true })
  expect(await read(id)).toMatchObject({ suspend: false, state: 'Queued' })
})

test('a job with the mode Warm cannot be suspended: a 422 says why; nor can a trained one: a 409', async () => {
  const id = await rows.addJob(await rows.addModel())
  for (const operation of ['suspend', 'resume'] as const) {
    expect(await ask(id, operation)).toEqual({
      status: 422,
      body: expect.stringContaining('shares its trainer with other jobs') as string,
    })
  }
  const { claim, attempt } = await rows.claim()
  await own.database.pool.query("UPDATE training.jobs SET mode = 'Dedicated' WHERE id = $1", [id])
  await recordCheckpoint(own.database.pool, attempt, checkpointOf(claim))
  expect(await ask(id, 'suspend')).toMatchObject({ status: 409, body: expect.stringContaining('Publishing') as string })
  expect((await ask(randomUUID(), 'suspend')).status).toBe(404)
})
