import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { keyOf } from '../../artifacts/layout.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import type { TrainingJob } from '../../crds/generated.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { withTransaction } from '../../db/pool.ts'
import { whileUnheld } from '../../db/store/held-keys.ts'
import { expirePayloads } from '../../operator/retention/files.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { ModelRows } from '../support/model-rows.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { addTrainingEntity } from '../support/training-entity.ts'
import type { TrainingRows } from '../support/training-rows.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const own = useApiServer()
const path = '/v1/preview/training-jobs'
let rows: TrainingRows
let api: Rest

// Every test has its own entity, so that its payloads are its own.
beforeEach(async () => {
  ;({ rows, api } = await addTrainingEntity(own))
})

type Job = Record<string, unknown> & { id: string; retry_of: string | null }

const groups = [{ trajectories: [{ messages_and_choices: [{ role: 'user', content: 'a' }], reward: 1 }] }]
const failure = { category: 'User', reason: 'BadInput', message: 'bad', retryable: false } as const
const artifacts = () => new FolderStore(stack.artifacts)

async function addJob(modelId: string, more: object = {}): Promise<string> {
  return (await api.call<Job>('POST', path, { model_id: modelId, trajectory_groups: groups, ...more })).id
}

async function addEnded(modelId: string, more: object = {}): Promise<string> {
  const id = await addJob(modelId, more)
  await failJob(own.database.pool, id, failure)
  return id
}

const retry = (id: string) => api.call<Job>('POST', `${path}/${id}/retry`)
const answer = async (id: string, rest = api) => {
  const response = await rest.send('POST', `${path}/${id}/retry`)
  return { status: response.status, ...((await response.json()) as { detail: unknown }) }
}
const listJobs = async () => (await api.call<{ data: Job[] }>('GET', path)).data

/** Payloads of the entity's ended jobs are to go at once. Returns the key of a job's. */
async function letPayloadExpire(id: string): Promise<string> {
  const { pool } = own.database
  await setLimits(pool, rows.entity, { payloadDays: 1 })
  await pool.query(`UPDATE training.jobs SET finished_at = now() - interval '2 days' WHERE id = $1`, [id])
  const { rows: found } = await pool.query<{ digest: string }>(
    'SELECT input_digest AS digest FROM training.jobs WHERE id = $1',
    [id],
  )
  return keyOf('payload', { entity: rows.entity, digest: found[0]!.digest })
}

describe('a retry', () => {
  test('is a new job with the data and settings of the old one, which its answer and its resource name', async () => {
    const model = await rows.addModel()
    await new ModelRows(own.database.pool, stack.artifacts).addCheckpoint(model, 1)
    const settings = {
      experimental_config: { learning_rate: 0.25, kl_penalty_coef: 0.1, kl_penalty_reference_step: 1 },
      priority: 7,
      mode: 'Dedicated',
      queue_name: 'gpus',
      start_deadline_seconds: 600,
    }
    const id = await addEnded(model, settings)
    const again = await retry(id)
    expect(again).toMatchObject({ model_id: model, method: 'RL', state: 'Pending', retry_of: id, ...settings })
    expect(again.id).not.toBe(id)
    expect(await api.call('GET', `${path}/${again.id}`)).toMatchObject({ retry_of: id })
    expect((await listJobs()).map((job) => job.retry_of)).toEqual([null, id])
    expect(await api.call('GET', `${path}/${id}`)).toMatchObject({ state: 'Failed', retry_of: null })
    const list = await stack.kubectl('get', 'tj', '-n', 'trainyard', '-l', `trainyard.dev/retry-of=${id}`, '-o', 'json')
    const resource = (JSON.parse(list) as { items: TrainingJob[] }).items
    expect(resource.map(({ metadata }) => metadata.labels?.['trainyard.dev/id'])).toEqual([again.id])
    expect(await stack.kubectl('get', 'tj', resource[0]!.metadata.name ?? '', '-n', 'trainyard', '-o', 'wide')).toMatch(
      new RegExp(`RETRY-OF[^]*${id}`),
    )
    // The trainer gets the same bytes, and begins from the newest checkpoint.
    await new ModelRows(own.database.pool, stack.artifacts).addCheckpoint(model, 2)
    const { rows: inputs } = await own.database.pool.query<{ input: string }>(
      `SELECT DISTINCT input_uri || input_digest || input_bytes AS input FROM training.jobs WHERE id = ANY ($1)`,
      [[id, again.id]],
    )
    expect(inputs).toHaveLength(1)
    const trajectories = await api.call<{ data: { job_id: string }[] }>(
      'GET',
      `/v1/preview/models/${model}/trajectories?job_id=${again.id}`,
    )
    expect(trajectories.data).toHaveLength(1)
    await queueJob(own.database.pool, again.id)
    const claim = await rows.claim({ ...rows.trainer(), jobId: again.id })
    expect(claim.claim).toMatchObject({ id: again.id, step: 3, fromCheckpoint: { step: 2 } })
  })

  test('of an SFT job trains on the version that the first one was given, and keeps the attempts of kubectl', async () => {
    const model = await rows.addModel()
    const upload = (text: string) =>
      api.upload(
        `/v1/preview/artifacts/${rows.entity}/project/data`,
        `${JSON.stringify({ messages: [{ role: 'assistant', content: text }] })}\n`,
      )
    await upload('first')
    const training_data_url = `wandb-artifact:///${rows.entity}/project/data:latest`
    const sent = { model_id: model, training_data_url, config: { batch_size: 3 }, experimental_config: { note: 1 } }
    const { id } = await api.call<Job>('POST', '/v1/preview/sft-training-jobs', sent)
    await own.database.pool.query('UPDATE training.jobs SET max_attempts = 3 WHERE id = $1', [id])
    await cancelJob(own.database.pool, id)
    await upload('second')
    const again = await retry(id)
    expect(again).toMatchObject({ method: 'SFT', training_data_url, config: { batch_size: 3 }, max_attempts: 3 })
    expect(again).toMatchObject({ experimental_config: { note: 1 } })
    const { rows: inputs } = await own.database.pool.query(
      'SELECT DISTINCT input_uri, input_digest FROM training.jobs WHERE id = ANY ($1)',
      [[id, again.id]],
    )
    expect(inputs).toHaveLength(1)
    const spec = await stack.kubectl('get', 'tj', '-n', 'trainyard', '-l', `trainyard.dev/id=${again.id}`, '-o', 'json')
    expect((JSON.parse(spec) as { items: TrainingJob[] }).items[0]?.spec.retry).toEqual({ limit: 2 })
  })

  test('is rejected while the job has not ended, and once its data or its reference are gone', async () => {
    const model = await rows.addModel()
    const running = await addJob(model)
    expect(await answer(running)).toMatchObject({
      status: 409,
      detail: expect.stringContaining('has the state Pending'),
    })
    await cancelJob(own.database.pool, running)
    await letPayloadExpire(running)
    await expirePayloads({ pool: own.database.pool, artifacts: artifacts() })
    expect(await answer(running)).toMatchObject({
      status: 409,
      detail: expect.stringContaining('no longer in the artifact store'),
    })
    const referring = await addEnded(model, { trajectory_groups: [] })
    await own.database.pool.query(
      `UPDATE training.jobs SET config = '{"kl_penalty_coef": 0.1, "kl_penalty_reference_step": 4}' WHERE id = $1`,
      [referring],
    )
    expect(await answer(referring)).toMatchObject({ status: 409, detail: expect.stringContaining('no step 4') })
    expect(await listJobs()).toHaveLength(2)
  })

  test('waits for a removal of its data that is under way, and is then rejected', async () => {
    const id = await addEnded(await rows.addModel())
    const key = await letPayloadExpire(id)
    const removal = Promise.withResolvers<void>()
    const removing = whileUnheld({ pool: own.database.pool, schema: 'training' }, key, async () => {
      await removal.promise
      await artifacts().remove(key)
      return true
    })
    const answered = answer(id)
    expect(await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))])).toBe('waits')
    removal.resolve()
    expect(await removing).toBe(true)
    expect(await answered).toMatchObject({ status: 409 })
  })

  test('holds its data until its row refers to them', async () => {
    const model = await rows.addModel()
    const id = await addEnded(model)
    const key = await letPayloadExpire(id)
    const { pool } = own.database
    let retried: Promise<Job> | undefined
    await withTransaction(pool, async (connection) => {
      await connection.query('SELECT FROM training.models WHERE id = $1 FOR UPDATE', [model])
      retried = retry(id)
      await eventually(async () =>
        expect((await pool.query('SELECT FROM training.held_keys WHERE key = $1', [key])).rowCount).toBe(1),
      )
      await expirePayloads({ pool, artifacts: artifacts() })
    })
    expect(await retried).toMatchObject({ retry_of: id })
    await expirePayloads({ pool, artifacts: artifacts() })
    expect(await artifacts().stat(key)).toBeDefined()
    expect((await pool.query('SELECT FROM training.held_keys WHERE key = $1', [key])).rowCount).toBe(0)
  })

  test('needs the role member, an own job, and a free place among the unfinished jobs', async () => {
    const model = await rows.addModel()
    const id = await addEnded(model)
    expect(await answer(id, await own.join(rows.entity, 'read'))).toMatchObject({ status: 403 })
    expect(await answer(id, await own.join(`other-${randomUUID()}`))).toMatchObject({ status: 404 })
    expect(await answer(randomUUID())).toMatchObject({ status: 404 })
    expect(await answer('x')).toMatchObject({ status: 404 })
    await setLimits(own.database.pool, rows.entity, { queuedJobs: 1 })
    await addJob(model)
    expect(await answer(id)).toMatchObject({ status: 429, detail: expect.stringContaining('queued_jobs') })
    expect(await listJobs()).toHaveLength(2)
  })

  test('with an Idempotency-Key is made once', async () => {
    const id = await addEnded(await rows.addModel())
    const key = randomUUID()
    const apiKey = await addKey(own.database.pool, rows.entity)
    const send = async () => {
      const headers = { 'idempotency-key': key }
      const response = await post(`${own.server.url}${path}/${id}/retry`, apiKey, undefined, { headers })
      return { replayed: response.headers.get('idempotent-replayed'), job: (await response.json()) as Job }
    }
    const [first, second] = [await send(), await send()]
    expect(second).toEqual({ replayed: 'true', job: first.job })
    expect(await createRest({ ...stack, url: own.server.url }, apiKey).call('GET', path)).toMatchObject({
      data: [{ id }, { id: first.job.id, retry_of: id }],
    })
  })
})
