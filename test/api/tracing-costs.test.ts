import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { useServices } from '../support/services.ts'
import { createTraceClient } from '../support/trace-client.ts'

const stack = useServices()
const folder = await mkdtemp(path.join(tmpdir(), 'prices-'))
const file = path.join(folder, 'prices.json')
await writeFile(
  file,
  JSON.stringify({
    'gpt-listed': { input_cost_per_token: 1, output_cost_per_token: 2, litellm_provider: 'openai' },
    'gpt-dated': [{ provider: 'azure', input: 3, output: 4, created_at: '2026-01-01 00:00:00' }],
  }),
)
const own = useApiServer({ LOG_LEVEL: 'warn', TRAINYARD_TRACING_PRICES: file })
let key: string
beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
  await own.database.pool.query(
    "INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ('org/base', '{org/base,base}', 'n', 'c')",
  )
})
afterAll(() => rm(folder, { recursive: true }))

type Cost = Record<string, unknown>

async function post<T = Record<string, unknown>>(route: string, body: unknown, ownKey = key) {
  const answer = await createTraceClient(own.server.url, ownKey).post(route, body)
  return { status: answer.status, body: answer.body as T }
}

let projects = 0
const newProject = () => `team/costs-${++projects}`
const costOf = (prompt: number, completion: number, more: object = {}) => ({
  prompt_token_cost: prompt,
  completion_token_cost: completion,
  ...more,
})
const create = async (projectId: string, costs: Record<string, object>) =>
  (await post<{ ids: [string, string][] }>('/cost/create', { project_id: projectId, costs })).body.ids
const query = async (projectId: string, more: object = {}) =>
  (await post<{ results: Cost[] }>('/cost/query', { project_id: projectId, ...more })).body.results
const eq = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, { $literal: value }] })
const isTrue = { $eq: [{ $literal: '1' }, { $literal: '1' }] }
const among = (field: string, ...values: string[]) => ({
  $in: [{ $getField: field }, values.map((value) => ({ $literal: value }))],
})
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string

describe('a cost', () => {
  test('is stored with defaults, and found', async () => {
    const p = newProject()
    const [[id, llmId]] = (await create(p, { 'gpt-x': costOf(0.5, 2e-7) })) as [[string, string]]
    expect(llmId).toBe('gpt-x')
    const stored = {
      id,
      llm_id: 'gpt-x',
      prompt_token_cost: 0.5,
      completion_token_cost: 2e-7,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
      effective_date: time,
      provider_id: 'default',
      cache_read_input_token_cost: 0,
      cache_creation_input_token_cost: 0,
    }
    expect(await query(p)).toEqual([stored])
    const nulls = Object.fromEntries(Object.keys(stored).map((name) => [name, null]))
    expect(await query(p, { fields: ['id', 'pricing_level_id'] })).toEqual([{ ...nulls, id }])
  })

  test('is stored as it was sent', async () => {
    const p = newProject()
    const said = costOf(1, 2, {
      prompt_token_cost_unit: 'EUR',
      completion_token_cost_unit: null,
      effective_date: '1998-10-03T02:00:00.5+02:00',
      provider_id: 'openai',
      cache_read_input_token_cost: 0.25,
      cache_creation_input_token_cost: 4,
    })
    const name = '__proto__ ü \u0000'
    await post('/cost/create', `{"project_id":"${p}","costs":{"__proto__ ü \\u0000":${JSON.stringify(said)}}}`)
    expect(await query(p)).toMatchObject([
      { ...said, llm_id: name.replace('\0', '\uFFFD'), effective_date: '1998-10-03T00:00:00.500000Z' },
    ])
  })

  test('is rejected with an invalid date', async () => {
    const p = newProject()
    const costs = { m: costOf(1, 2, { effective_date: 'soon' }) }
    expect((await post('/cost/create', { project_id: p, costs })).status).toBe(422)
    expect(await query(p)).toEqual([])
  })

  test('may begin in the first year, and in the last', async () => {
    const p = newProject()
    const dates = ['0001-01-01T00:00:00.000000Z', '9999-12-31T23:59:59.999999Z']
    for (const date of dates) await create(p, { m: costOf(1, 2, { effective_date: date }) })
    expect((await query(p)).map(({ effective_date }) => effective_date)).toEqual(dates)
  })

  test('belongs to a project of the key', async () => {
    const elsewhere = await addKey(own.database.pool, 'elsewhere')
    const theirs = { project_id: 'elsewhere/p', costs: { m: costOf(1, 2) } }
    const { body } = await post<{ ids: [string, string][] }>('/cost/create', theirs, elsewhere)
    const purge = { $expr: among('id', body.ids[0]![0]) }
    for (const project of ['elsewhere/p', 'elsewhere/none']) {
      expect((await post('/cost/create', { ...theirs, project_id: project })).status).toBe(403)
      expect((await post('/cost/query', { project_id: project })).status).toBe(403)
      expect((await post('/cost/purge', { project_id: project, query: purge })).status).toBe(403)
    }
    const mine = newProject()
    await create(mine, { m: costOf(1, 2) })
    expect((await post('/cost/purge', { project_id: mine, query: purge })).status).toBe(200)
    const kept = await post<{ results: Cost[] }>('/cost/query', { project_id: 'elsewhere/p' }, elsewhere)
    expect(kept.body.results).toHaveLength(1)
  })

  test('can be read and not written by read-only keys', async () => {
    const reader = await addKey(own.database.pool, 'team', 'read')
    expect((await post('/cost/query', { project_id: 'team/p' }, reader)).status).toBe(200)
    expect((await post('/cost/create', { project_id: 'team/p', costs: {} }, reader)).status).toBe(403)
  })
})

describe('costs are found', () => {
  const p = 'team/found'
  beforeAll(async () => {
    await create(p, { b: costOf(1, 9, { provider_id: 'x' }), a: costOf(10, 8) })
    await create(p, { c: costOf(2, 7, { effective_date: '2020-01-01' }) })
  })
  const modelsOf = (rows: Cost[]) => rows.map(({ llm_id: id }) => String(id))

  test.each<[string, object, string[]]>([
    ['by a constant true condition', { query: { $expr: isTrue } }, ['a', 'b', 'c']],
    ['by models', { query: { $expr: { $and: [isTrue, among('llm_id', 'a', 'c', 'd')] } } }, ['a', 'c']],
    ['by a price', { query: { $expr: { $gt: [{ $getField: 'prompt_token_cost' }, { $literal: 1 }] } } }, ['a', 'c']],
    ['by a date', { query: { $expr: { $lt: [{ $getField: 'effective_date' }, { $literal: '2021-01-01' }] } } }, ['c']],
    ['by their level', { query: { $expr: eq('pricing_level', 'project') } }, ['a', 'b', 'c']],
    ['by their project', { query: { $expr: eq('pricing_level_id', p) } }, ['a', 'b', 'c']],
    ['not those of other projects', { query: { $expr: eq('pricing_level_id', 'elsewhere/p') } }, []],
    ['in an order', { sort_by: [{ field: 'prompt_token_cost', direction: 'desc' }] }, ['a', 'c', 'b']],
    ['in pages', { sort_by: [{ field: 'llm_id', direction: 'asc' }], limit: 1, offset: 1 }, ['b']],
  ])('%s', async (_name, asked, expected) => {
    const found = modelsOf(await query(p, asked))
    expect('sort_by' in asked ? found : found.toSorted()).toEqual(expected)
  })

  test.each<[string, object, number]>([
    ['an unknown field', { fields: ['nothing'] }, 403],
    ['a negative offset', { limit: -1 }, 422],
  ])('but not with %s', async (_name, asked, status) => {
    expect((await post('/cost/query', { project_id: p, ...asked })).status).toBe(status)
  })
})

test('costs are purged by ids, one or several', async () => {
  const p = newProject()
  const ids = (await create(p, { a: costOf(1, 1), b: costOf(1, 1), c: costOf(1, 1), d: costOf(1, 1) })).map(
    ([id]) => id,
  )
  const [a, b, c] = ids as [string, string, string]
  for (const $expr of [eq('id', a), among('id', b, 'none'), { $or: [eq('id', c)] }]) {
    expect(await post('/cost/purge', { project_id: p, query: { $expr } })).toMatchObject({ status: 200, body: {} })
  }
  expect((await query(p)).map(({ llm_id: id }) => id)).toEqual(['d'])
  for (const $expr of [isTrue, eq('llm_id', 'd'), among('llm_id', 'd'), { $not: [eq('id', 'x')] }]) {
    expect((await post('/cost/purge', { project_id: p, query: { $expr } })).status).toBe(400)
  }
  expect(await query(p)).toHaveLength(1)
})

describe('the cost of a call', () => {
  const usageOf = (prompt: number, completion: number) => ({
    requests: 1,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  })

  async function costsOf(projectId: string, usage: unknown, startedAt = '2026-06-01T00:00:00Z') {
    const call = { project_id: projectId, id: newId(), trace_id: newId(), op_name: 'op', attributes: {}, inputs: {} }
    const whole = { ...call, started_at: startedAt, ended_at: startedAt, output: 1, summary: { usage } }
    expect((await post(`/v2/${projectId}/calls/complete`, { batch: [whole] })).status).toBe(200)
    const asked = { project_id: projectId, id: call.id, include_costs: true }
    type Read = { call: { summary: { weave: { costs?: Record<string, Cost> } } } }
    return (await post<Read>('/call/read', asked)).body.call.summary.weave.costs
  }

  test("follows the project's prices, then the server's, and is zero for our own base models", async () => {
    const p = newProject()
    await create(p, {
      mine: costOf(0.5, 0.25, { effective_date: '2026-01-01', provider_id: 'me' }),
      'gpt-listed': costOf(7, 8, { effective_date: '2027-01-01' }),
    })
    await create(p, { mine: costOf(9, 9, { effective_date: '2025-01-01' }) })
    const models = ['mine', 'gpt-listed', 'gpt-dated', 'org/base', 'base', 'unknown']
    const costs = await costsOf(p, Object.fromEntries(models.map((model) => [model, usageOf(10, 4)])))
    const reported = ({ pricing_level, provider_id, prompt_tokens_total_cost, completion_tokens_total_cost }: Cost) => [
      pricing_level,
      provider_id,
      prompt_tokens_total_cost,
      completion_tokens_total_cost,
    ]
    expect(Object.fromEntries(Object.entries(costs!).map(([model, cost]) => [model, reported(cost)]))).toEqual({
      mine: ['project', 'me', 5, 1],
      'gpt-listed': ['default', 'openai', 10, 8],
      'gpt-dated': ['default', 'azure', 30, 16],
      'org/base': ['default', 'trainyard', 0, 0],
      base: ['default', 'trainyard', 0, 0],
    })
    expect(costs!['mine']).toMatchObject({
      ...usageOf(10, 4),
      prompt_token_cost: 0.5,
      effective_date: '2026-01-01T00:00:00.000000Z',
      pricing_level_id: p,
      created_by: expect.any(String),
      created_at: time,
    })
    expect(costs!['gpt-dated']).toMatchObject({ pricing_level_id: 'default', created_by: 'system' })
  })

  test('follows a later price if there is no earlier one', async () => {
    const p = newProject()
    await create(p, { 'gpt-dated': costOf(7, 7, { effective_date: '2026-02-01' }) })
    const costs = await costsOf(p, { 'gpt-dated': usageOf(1, 1) }, '2020-01-01T00:00:00Z')
    expect(costs).toMatchObject({ 'gpt-dated': { pricing_level: 'project', prompt_token_cost: 7 } })
  })

  test('does not follow prices of other projects', async () => {
    const elsewhere = await addKey(own.database.pool, 'elsewhere')
    const theirs = { project_id: 'elsewhere/p', costs: { 'gpt-theirs': costOf(1, 1) } }
    expect((await post('/cost/create', theirs, elsewhere)).status).toBe(200)
    await create(newProject(), {
      'gpt-theirs': costOf(1, 1),
      'gpt-listed': costOf(5, 5, { effective_date: '2020-01-01' }),
    })
    const costs = await costsOf(newProject(), { 'gpt-theirs': usageOf(1, 1), 'gpt-listed': usageOf(1, 1) })
    expect(costs).toEqual({ 'gpt-listed': expect.objectContaining({ pricing_level: 'default' }) as Cost })
  })

  test.each<[string, unknown]>([
    ['of models without a price', { unknown: usageOf(1, 1) }],
    ['that is not an object', 7],
  ])('is missing for a usage %s', async (_name, usage) => {
    expect(await costsOf('team/p', usage)).toBeUndefined()
  })
})

test('an invalid file of prices is an error at startup, which names its variable', async () => {
  const bad = path.join(folder, 'bad.json')
  await writeFile(bad, '{')
  const env = {
    TRAINYARD_HOST: '127.0.0.1',
    DATABASE_URL: own.database.databaseUrl,
    TRAINYARD_ARTIFACTS: stack.artifacts,
    TRAINYARD_NAMESPACE: 'trainyard',
    TRAINYARD_ENGINE_KEY: 'none',
    KUBECONFIG: stack.kubeconfig,
    TRAINYARD_TRACING_PRICES: bad,
  }
  const failed = await promisify(execFile)(process.execPath, ['apiserver/main.ts'], { env }).catch(
    (error: { stderr: string }) => error,
  )
  expect(failed.stderr).toContain('ConfigError: bad configuration: the file of TRAINYARD_TRACING_PRICES is no JSON')
  expect(failed.stderr).not.toContain(bad)
})
