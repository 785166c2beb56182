import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Registry } from 'prom-client'
import { beforeAll, describe, expect, test } from 'vitest'
import { createArtifactStore } from '../../artifacts/store/create-store.ts'
import type { BaseModel, Model } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { OperatorEvents } from '../../operator/metrics/events.ts'
import { Publisher } from '../../operator/training-job/publish.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { ModelRows } from '../support/model-rows.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useBaseModel } from '../support/resources.ts'
import { useStack } from '../support/stack.ts'
import { TrainingRows } from '../support/training-rows.ts'
import { post, postJson } from '../support/post.ts'

const stack = useStack()
useBaseModel(stack, 'gone')
const base = 'fake'
const own = useFakeEngine(stack, { model: base, answer: answerChat, count: 2 })
const entity = 'team'
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }]

let key: string
let rest: Rest
let rows: ModelRows

/** Replies with the name of the requested model. */
async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model } = JSON.parse((await buffer(request)).toString()) as { model: string }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: model, object: 'chat.completion', created: 0, model, choices, usage }))
}

beforeAll(async () => {
  key = await addKey(own.database.pool, entity, 'admin')
  rest = createRest({ ...stack, url: own.server.url }, key)
  rows = new ModelRows(own.database.pool, stack.artifacts)
})

/** The model that the second process requests from the engine, or the status of the error. */
async function chat(model: string, bearer = key): Promise<string | number> {
  const body = { model, messages: [{ role: 'user', content: 'hi' }] }
  const response = await post(`${own.servers[1]!.url}/v1/chat/completions`, bearer, body)
  const { id } = (await response.json()) as { id: string }
  return response.ok ? id : response.status
}

async function addModel(): Promise<{ id: string; name: string }> {
  const { rows: made } = await own.database.pool.query<{ id: string; name: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name)
     VALUES ($1, 'project', $2, $3, $4, $2) RETURNING id, name`,
    [entity, `model-${randomUUID()}`, base, own.namespace],
  )
  return { id: made[0]!.id, name: `${entity}/project/${made[0]!.name}` }
}

test('a key that one process revoked is rejected by the other at its next request, in each of 200 tries', async () => {
  const outcomes: (string | number)[] = []
  const lane = async () => {
    for (let times = 0; times < 40; times++) {
      const { id, key: made } = await rest.call<{ id: string; key: string }>('POST', '/v1/preview/keys', {
        role: 'read',
      })
      const before = await chat(base, made)
      await rest.call('DELETE', `/v1/preview/keys/${id}`)
      outcomes.push(`${before} ${await chat(base, made)}`)
    }
  }
  // Not more at once than the database has connections for on a loaded machine.
  await Promise.all(Array.from({ length: 5 }, lane))
  expect(outcomes).toEqual(Array.from({ length: 200 }, () => `${base} 401`))
})

describe('a name that one process changed has its new meaning in the other at its next request:', () => {
  test('an alias that is moved and deleted', async () => {
    const { id, name } = await addModel()
    const steps = [await rows.addCheckpoint(id, 1), await rows.addCheckpoint(id, 2)]
    const path = `/v1/preview/models/${id}/aliases/prod`
    for (let times = 0; times < 6; times++) {
      await rest.call('PUT', path, { step: (times % 2) + 1 })
      expect(await chat(`${name}:prod`)).toBe(steps[times % 2])
    }
    await rest.call('DELETE', path)
    expect(await chat(`${name}:prod`)).toBe(404)
  })

  test('checkpoints and a model that are deleted', async () => {
    const { id, name } = await addModel()
    const steps = [await rows.addCheckpoint(id, 1), await rows.addCheckpoint(id, 2)]
    await eventually(async () => expect(await chat(name)).toBe(steps[1]), 60_000, 5)
    await rest.call('DELETE', `/v1/preview/models/${id}/checkpoints`, { steps: [2] })
    expect([await chat(name), await chat(`${name}:step2`)]).toEqual([steps[0], 404])
    await rest.call('DELETE', `/v1/preview/models/${id}`)
    expect([await chat(name), await chat(`${name}:step1`)]).toEqual([404, 404])
  })
})

test("an unknown, a deleted and another entity's name are the same 404, which shows similar names of the entity", async () => {
  const readReply = async (model: string, bearer: string) => {
    const messages = [{ role: 'user', content: 'hi' }]
    const { status, body } = await postJson(`${own.server.url}/v1/chat/completions`, bearer, { model, messages })
    return { status, ...body }
  }
  const [{ id, name }, foreignKey] = [await addModel(), await addKey(own.database.pool, 'others')]
  const notFound = (wanted: string, advice: string) => ({
    status: 404,
    detail: `The model ${wanted} does not exist. ${advice}`,
    error: expect.objectContaining({ code: 'model_not_found' }) as object,
  })
  const [mistyped, noAdvice] = [`${name}x`, 'GET /v1/models lists all models.']
  expect(await readReply(mistyped, key)).toEqual(notFound(mistyped, `Is ${name} meant?`))
  expect(await readReply(mistyped, foreignKey)).toEqual(notFound(mistyped, noAdvice))
  expect(await readReply(name, foreignKey)).toEqual(notFound(name, noAdvice))
  await rest.call('DELETE', `/v1/preview/models/${id}`)
  expect(await readReply(name, key)).toEqual(notFound(name, noAdvice))
})

/** An operator's publisher that sees these base models and engines. */
async function createPublisher(baseModels: BaseModel[], pods: Pod[]): Promise<Publisher> {
  const [log, events] = [createLogger('test', 'silent'), new OperatorEvents(new Registry())]
  const artifacts = await createArtifactStore(stack.artifacts)
  const seen = { baseModels: cacheOf(baseModels), pods: cacheOf(pods) }
  return new Publisher({ pool: own.database.pool, log, artifacts, engineKeys: ['none'], events, ...seen })
}

const cacheOf = <T extends { metadata: { name?: string } }>(objects: T[]) => ({
  list: () => objects,
  get: (wanted: string) => objects.find(({ metadata }) => metadata.name === wanted),
})

test('the engines of a model that is kept loaded are told of a new step at once', async () => {
  const { id } = await addModel()
  await own.database.pool.query('UPDATE training.models SET keep_loaded = true WHERE id = $1', [id])
  const pod = JSON.parse(await stack.kubectl('-n', own.namespace, 'get', 'pod', 'engine', '-o', 'json')) as Pod
  const baseModel = { metadata: { name: base }, spec: { names: [base] } } as BaseModel
  const publisher = await createPublisher([baseModel], [pod])
  const jobId = await rows.addJob(id, 'Publishing')
  await rows.addCheckpoint(id, 1, { jobId })
  const reported: string[] = []
  await publisher.publish(jobId, (name) => reported.push(name))
  expect(reported).toEqual(['engine'])
})

describe('who has read training_ended at one process gets no older step at the other,', () => {
  const feed = 'trainyard listens to changes'

  /** A model whose newest step the other process has in memory, and a job that has trained another. */
  async function trainKnownModel(): Promise<{ name: string; jobId: string; train: () => Promise<string> }> {
    const { id, name } = await addModel()
    const first = await rows.addCheckpoint(id, 1)
    const jobId = await rows.addJob(id, 'Publishing')
    await eventually(async () => expect(await chat(name)).toBe(first), 60_000, 5)
    return { name, jobId, train: () => rows.addCheckpoint(id, 2, { jobId }) }
  }

  test.each([
    ['as it hears of it', () => {}],
    ['also where its connection for notifications is cut', () => own.servers[1]!.postgres.cutOnly(feed)],
    ['also where its connection for notifications is silent', () => own.servers[1]!.postgres.hang(feed)],
  ])('%s', async (_, block) => {
    const publisher = await createPublisher([], [])
    // Where all of it takes longer than a lease, one shows nothing.
    for (let times = 0; times < 3; times++) {
      const { name, jobId, train } = await trainKnownModel()
      block()
      const newest = await train()
      await publisher.publish(jobId, () => {})
      expect(await chat(name)).toBe(newest)
      expect((await rest.listEvents(jobId)).at(-1)?.type).toBe('training_ended')
      own.servers[1]!.postgres.mend()
    }
  })
})

test('chats need no database query', async () => {
  const names = [base, ...(await Promise.all(Array.from({ length: 9 }, addModel))).map(({ name }) => name)]
  const askAll = (times: number) =>
    Promise.all(
      names.map(async (name) => {
        for (let time = 0; time < times; time++) expect(await chat(name)).toBe(base)
      }),
    )
  await eventually(async () => {
    await askAll(1)
    const [sentBefore, beganAtMs] = [own.servers[1]!.postgres.sent, performance.now()]
    await askAll(40)
    const seconds = (performance.now() - beganAtMs) / 1_000
    // Ten probes a second, and the rows that are written once a second.
    expect(own.servers[1]!.postgres.sent - sentBefore).toBeLessThan(20 + 15 * seconds)
  })
})

test('the operator ends a job when no process can still have an older step in memory', async () => {
  const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  const training = new TrainingRows(pool)
  // The operator cancels a job without a resource if it sees the job before the checkpoint. Then another job is made.
  const job = await eventually(async () => {
    const added = await training.addJob(await training.addModel())
    await training.train(added)
    return added
  })
  const readMs =
    'SELECT 1000 * extract(epoch FROM finished_at - trained_at)::float8 AS ms FROM training.jobs WHERE id = $1'
  const tookMs = await eventually(async () => {
    const { ms } = (await pool.query<{ ms: number | null }>(readMs, [job])).rows[0]!
    if (ms === null) throw new Error('not ended yet')
    return ms
  })
  await pool.end()
  expect(tookMs).toBeGreaterThan(250)
})

test.each([
  ['Delete', 'deleted_at'],
  ['Retain', 'hidden_at'],
] as const)(
  'the resource of a model, with the policy %s, is gone when no process has the model in memory',
  async (deletionPolicy, column) => {
    const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 1)
    const [name, namespace, baseModelRef] = [`gone-${randomUUID().slice(0, 8)}`, 'trainyard', { name: 'gone-base' }]
    const spec = { entity: 'gone', project: 'tests', name, baseModelRef, deletionPolicy }
    await stack.apply({ apiVersion, kind: 'Model', metadata: { name, namespace }, spec } satisfies Model)
    await stack.kubectl(
      'wait',
      '-n',
      namespace,
      `models.trainyard.dev/${name}`,
      '--for=jsonpath={.status.id}',
      '--timeout=60s',
    )
    await stack.kubectl('delete', '-n', namespace, `models.trainyard.dev/${name}`)
    const goneAtMs = Date.now()
    const { rows: found } = await pool.query<{ at: Date }>(
      `SELECT ${column} AS at FROM training.models WHERE cr_name = $1`,
      [name],
    )
    await pool.end()
    expect(goneAtMs - found[0]!.at.getTime()).toBeGreaterThan(250)
  },
)
