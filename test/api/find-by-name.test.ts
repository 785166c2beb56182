import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { ModelRows } from '../support/model-rows.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

const stack = await useOwnStack()
const models = '/v1/preview/models'

let pool: Pool
let entity: string
let api: Rest

beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
})
afterAll(() => pool.end())
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  api = createRest(stack, await addKey(pool, entity))
})

interface Page {
  data: Record<string, unknown>[]
  has_more: boolean
  last_id: string
}

const create = async (project: string, name = 'agent') =>
  (await api.call<{ id: string }>('POST', models, { project, name, base_model: stack.baseModel })).id
const row = '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'
const upload = (project: string, name: string, rows = row) =>
  api.upload(`/v1/preview/artifacts/${entity}/${project}/${name}?file=train.jsonl`, rows)
const statusOf = async (method: string, path: string, body?: unknown) => (await api.send(method, path, body)).status

test('a model is found by its name in paths, queries and bodies', async () => {
  const id = await create('demo')
  const step = new ModelRows(pool, stack.artifacts)
  await step.addCheckpoint(id, 1)
  const names = [`${entity}/demo/agent`, `wandb-artifact:///${entity}/demo/agent`, 'demo/agent', 'agent']
  const found = names.map((name) => api.call('GET', `${models}/${encodeURIComponent(name)}`))
  expect(await Promise.all(found)).toEqual(names.map(() => expect.objectContaining({ id })))
  const path = `${models}/${encodeURIComponent(`${entity}/demo/agent`)}`
  expect(await statusOf('PUT', `${path}/aliases/prod`, { step: 1 })).toBe(200)
  expect(await api.call('GET', `${path}/checkpoints`)).toMatchObject({ data: [{ step: 1 }] })
  expect(await statusOf('GET', `${path}/metrics`)).toBe(200)
  const job = await api.call<{ id: string }>('POST', '/v1/preview/training-jobs', {
    model_id: `${entity}/demo/agent`,
    trajectory_groups: [],
  })
  for (const name of [id, ...names]) {
    const jobs = await api.call<Page>('GET', `/v1/preview/training-jobs?model_id=${encodeURIComponent(name)}`)
    expect(jobs.data).toMatchObject([{ id: job.id, model_id: id }])
  }
  expect(await statusOf('GET', '/v1/preview/usage?model_id=demo/agent')).toBe(200)
  const log = { model_id: 'agent', split: 'val', trajectory_groups: [] }
  expect(await statusOf('POST', `${path}/log`, log)).toBe(200)
  expect(await api.call('DELETE', path)).toMatchObject({ model_id: id })
  expect(await statusOf('GET', path)).toBe(404)
})

test('a name of several projects needs its project, and names of others and unknown ones are the same 404', async () => {
  await create('first')
  const id = await create('second')
  const response = await api.send('GET', `${models}/agent`)
  expect(response.status).toBe(409)
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('first/agent, second/agent') })
  expect(await api.call('GET', `${models}/second%2Fagent`)).toMatchObject({ id })
  const stranger = createRest(stack, await addKey(pool, `team-${randomUUID()}`))
  for (const name of [`${entity}/second/agent`, 'second/agent', 'agent', 'none', 'a/b/c/d', 'agent:step1']) {
    const path = `${models}/${encodeURIComponent(name)}`
    expect([(await stranger.send('GET', path)).status, (await stranger.send('DELETE', path)).status]).toEqual([
      404, 404,
    ])
  }
  const job = { model_id: `${entity}/second/agent`, trajectory_groups: [] }
  expect((await stranger.send('POST', '/v1/preview/training-jobs', job)).status).toBe(404)
  expect(await statusOf('GET', '/v1/preview/training-jobs?model_id=none')).toBe(404)
  expect(await statusOf('GET', '/v1/preview/training-jobs?model_id=a:b')).toBe(422)
})

test('projects are listed by name, with what is in them, page by page', async () => {
  await create('demo')
  await upload('demo', 'rows')
  await upload('Data', 'rows')
  await api.send('POST', '/traces/call/start', {
    start: {
      project_id: `${entity}/seen`,
      op_name: 'a',
      started_at: new Date().toISOString(),
      attributes: {},
      inputs: {},
    },
  })
  const nothing = { entity, models: 0, runs: 0, data_sets: 0, has_traces: false, created_at: expect.any(String) }
  const first = await api.call<Page>('GET', '/v1/preview/projects?limit=2')
  expect(first).toMatchObject({ has_more: true, last_id: 'demo' })
  expect(first.data).toEqual([
    { ...nothing, id: 'Data', name: 'Data', data_sets: 1 },
    { ...nothing, id: 'demo', name: 'demo', models: 1, data_sets: 1 },
  ])
  const second = await api.call<Page>('GET', '/v1/preview/projects?limit=2&after=demo')
  expect(second).toMatchObject({ has_more: false, data: [{ name: 'seen', models: 0, has_traces: true }] })
  const stranger = createRest(stack, await addKey(pool, `team-${randomUUID()}`, 'read'))
  expect(await stranger.call('GET', '/v1/preview/projects')).toMatchObject({ data: [], has_more: false })
})

test('data sets are listed with their newest versions, by project and name', async () => {
  await upload('b', 'rows')
  for (const text of [row, row + row]) await upload('a', 'rows', text)
  await upload('a', 'more')
  const list = '/v1/preview/artifacts'
  const all = await api.call<Page>('GET', list)
  expect(all.data.map(({ project, name }) => `${String(project)}/${String(name)}`)).toEqual([
    'a/more',
    'a/rows',
    'b/rows',
  ])
  expect(all.data[1]).toEqual({
    id: expect.any(String),
    entity,
    project: 'a',
    name: 'rows',
    type: 'dataset',
    created_at: expect.any(String),
    version_count: 2,
    versions: ['v1', 'v0'].map((version, index) => ({
      id: expect.any(String),
      version,
      address: `wandb-artifact:///${entity}/a/rows:${version}`,
      size: row.length * (2 - index),
      files: 1,
      created_at: expect.any(String),
    })),
  })
  const page = await api.call<Page>('GET', `${list}?limit=1&order=desc`)
  expect(page).toMatchObject({ has_more: true, data: [{ project: 'b' }] })
  expect(await api.call('GET', `${list}?project=a&after=${String(all.data[0]!['id'])}`)).toMatchObject({
    has_more: false,
    data: [{ name: 'rows' }],
  })
  expect(await statusOf('GET', `${list}?project=b&after=${String(all.data[0]!['id'])}`)).toBe(422)
  expect(await api.call('GET', `${list}?type=model`)).toMatchObject({ data: [] })
  const stranger = createRest(stack, await addKey(pool, `team-${randomUUID()}`))
  expect(await stranger.call('GET', list)).toMatchObject({ data: [] })
  expect((await stranger.send('GET', `${list}?after=${all.last_id}`)).status).toBe(422)
})
