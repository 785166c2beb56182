import { createHash, randomUUID } from 'node:crypto'
import { newId } from '../../apiserver/tracing/ids.ts'
import type { Pool } from '../../db/pool.ts'
import { insertResponse } from '../../db/responses/responses.ts'
import { eventually } from '../support/eventually.ts'
import { ModelRows } from '../support/model-rows.ts'
import { createRest, type Rest } from '../support/rest.ts'
import type { ApiStack } from '../support/services.ts'
import { createTraceClient } from '../support/trace-client.ts'
import { uploadRunFile, upsertRun } from '../support/wandb.ts'

/** One resource of each kind, all of one entity. */
export interface Things {
  /** By the name of the path parameter. */
  ids: Record<string, string>
  /** The same parameters with ids of nothing. */
  unknownIds: () => Record<string, string>
  /** A valid body for the operation. Undefined if it needs none. */
  bodyOf: (method: string, path: string) => Body | undefined
  /** A valid query for the operation. Empty if it needs none. */
  queryOf: (path: string) => string
  /** Operations that need what a control stack lacks, or that would remove everything. */
  isElsewhere: (path: string) => boolean
}

interface Body {
  type: string
  content: string
}

const json = (value: unknown): Body => ({ type: 'application/json', content: JSON.stringify(value) })
const dataSet = `${JSON.stringify({ messages: [{ role: 'assistant', content: 'a' }] })}\n`
const trajectory = { messages_and_choices: [{ role: 'user', content: 'a' }], reward: 1 }

/** Creates them over REST. What only training creates is written as rows and files. */
export async function makeThings(stack: ApiStack, pool: Pool, owner: { key: string; entity: string }): Promise<Things> {
  const ids = await makeIds(stack, pool, owner)
  const bodies = listBodies(stack, ids)
  return {
    ids,
    unknownIds: () => Object.fromEntries(Object.entries(ids).map(([name, value]) => [name, unknownLike(name, value)])),
    bodyOf: (method, path) => bodies[`${method} ${path.replace('/v1/preview/', '')}`],
    queryOf: (path) => (path.endsWith('/trajectory-matches') ? '?text=word' : ''),
    isElsewhere: (path) => elsewhere.has(path),
  }
}

// Most answer 503 without an engine. The others take a key in the body, never end, and revoke the key of the request.
const elsewhere = new Set([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/tokenize',
  '/v1/detokenize',
  '/tokenize',
  '/detokenize',
  '/v1/system-check',
  '/v1/preview/session',
  '/v1/preview/stream',
  '/v1/preview/entities/{entity}',
])

function unknownLike(name: string, value: string): string {
  if (name.endsWith('_id')) return randomUUID()
  if (name === 'entity') return `team-${randomUUID()}`
  if (name === 'model') return `team-${randomUUID()}/own/mine`
  return name === 'digest' ? createHash('sha256').update(randomUUID()).digest('hex') : value
}

async function makeIds(stack: ApiStack, pool: Pool, { key, entity }: { key: string; entity: string }) {
  const rest = createRest(stack, key)
  const make = async (method: string, path: string, body: object) =>
    (await rest.call<{ id: string }>(method, `/v1/preview/${path}`, body)).id
  const model = await make('POST', 'models', { project: 'own', name: 'mine', base_model: stack.baseModel })
  const trained = new ModelRows(pool, stack.artifacts)
  await trained.addCheckpoint(model, 1)
  await trained.addStatistics(await trained.addCheckpoint(model, 2))
  await make('POST', `models/${model}/log`, { split: 'val', trajectory_groups: [{ trajectories: [trajectory] }] })
  const { data } = await rest.call<{ data: { id: string }[] }>('GET', `/v1/preview/models/${model}/trajectories`)
  await rest.call('PUT', `/v1/preview/models/${model}/aliases/prod`, { step: 1 })
  await upload(stack, `artifacts/${entity}/own/data`, key)
  const webhook = await make('POST', 'webhooks', { url: 'http://127.0.0.1:9/' })
  const ended = await make('POST', 'training-jobs', { model_id: model, trajectory_groups: [] })
  await make('POST', `training-jobs/${ended}/cancel`, {})
  return {
    model_id: model,
    // With pods of its own, so that it can be suspended.
    training_job_id: await make('POST', 'training-jobs', { model_id: model, trajectory_groups: [], mode: 'Dedicated' }),
    trajectory_id: data[0]!.id,
    run_id: await addRun(stack, { key, entity }),
    call_id: await addCall(stack, { key, entity }),
    webhook_id: webhook,
    delivery_id: await findDelivery(rest, webhook),
    key_id: await make('POST', 'keys', { role: 'read' }),
    erasure_id: await make('DELETE', 'projects/gone', {}),
    // It names the entity, so that it stands before it where ids are cut out of texts.
    model: `${entity}/own/mine`,
    entity,
    response_id: await addResponse(pool, entity),
    project: 'own',
    name: 'data',
    alias: 'prod',
    step: '2',
    digest: createHash('sha256').update(dataSet).digest('hex'),
    path: 'adapter_config.json',
  }
}

/** As the weave SDK makes it. */
async function addCall({ url }: ApiStack, { key, entity }: { key: string; entity: string }): Promise<string> {
  const id = newId()
  const start = { project_id: `${entity}/own`, id, trace_id: id, op_name: 'answer', attributes: {}, inputs: {} }
  const traces = createTraceClient(`${url}/traces`, key)
  await traces.call('/call/start', { start: { ...start, started_at: '2026-11-21T10:00:00Z' } })
  return id
}

/** As the wandb SDK makes it, with a file. */
async function addRun({ url }: ApiStack, { key, entity }: { key: string; entity: string }): Promise<string> {
  const id = await upsertRun({ url, key }, { modelName: 'own', name: 'run' })
  const file = { path: 'adapter_config.json', content: '{}' }
  await uploadRunFile({ url, key }, { entity, project: 'own', run: 'run' }, file)
  return id
}

/** As an engine would have made it. */
async function addResponse(pool: Pool, entity: string): Promise<string> {
  const id = randomUUID()
  const row = { id, entity, project: 'own', previousId: null, rootId: id, createdAt: new Date(), bytes: 4 }
  await insertResponse(pool, { ...row, input: '[]', response: '{}' })
  return id
}

async function upload(stack: ApiStack, path: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' }
  const response = await fetch(`${stack.url}/v1/preview/${path}`, { method: 'PUT', headers, body: dataSet })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}

function findDelivery(rest: Rest, webhook: string): Promise<string> {
  return eventually(async () => {
    const path = `/v1/preview/webhooks/${webhook}/deliveries`
    const { data } = await rest.call<{ data: { id: string }[] }>('GET', path)
    if (!data[0]) throw new Error('no delivery yet')
    return data[0].id
  })
}

/** Bodies by method and path. */
function listBodies(stack: ApiStack, ids: Record<string, string>): Record<string, Body> {
  const data = { type: 'application/octet-stream', content: dataSet }
  return {
    'post models': json({ base_model: stack.baseModel }),
    // It has no key in the header.
    'post session': json({ api_key: 'ty_none' }),
    'post models/{model_id}/fork': json({}),
    'put models/{model_id}/retention': json({ keep_last: 5 }),
    'put models/{model_id}/aliases/{alias}': json({ step: 2 }),
    'post models/{model_id}/log': json({ split: 'val', trajectory_groups: [] }),
    'delete models/{model_id}/checkpoints': json({ steps: [1] }),
    'post training-jobs': json({ model_id: ids['model_id'], trajectory_groups: [] }),
    'post sft-training-jobs': json({
      model_id: ids['model_id'],
      training_data_url: `wandb-artifact:///${ids['entity']}/own/data`,
    }),
    'put projects/{project}/trace-retention': json({ days: 30 }),
    'post projects/{project}/calls/statistics': json({}),
    'post projects/{project}/calls/to-dataset': json({ dataset: 'copies', call_ids: [ids['call_id']] }),
    'post models/{model_id}/to-dataset': json({
      dataset: 'copies',
      trajectory_ids: [ids['trajectory_id']],
    }),
    'put limits/token-statistics': json({ token_statistics: 'all' }),
    'put limits/trace-project': json({ trace_project: 'own' }),
    'put limits/paused': json({ paused: false }),
    'post keys': json({ role: 'read' }),
    'put keys/{key_id}/trace-project': json({ trace_project: 'own' }),
    'post keys/{key_id}/rotate': json({}),
    'post webhooks': json({ url: 'http://127.0.0.1:9/' }),
    'post webhooks/{webhook_id}/replay': json({}),
    'put artifacts/{entity}/{project}/{name}': data,
    'put artifacts/{entity}/{project}/{name}/blobs/{digest}': data,
  }
}
