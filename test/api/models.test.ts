import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

const stack = await useOwnStack()
const rest = createRest(stack)
const path = '/v1/preview/models'

let pool: Pool
beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
})
afterAll(() => pool.end())

interface Model {
  id: string
  entity: string
  project: string
  name: string
  run_id: string
  latest_step: number
}

const newName = () => `model-${randomUUID()}`
const create = (body: object) => rest.send('POST', path, { base_model: stack.baseModel, ...body })
const createOne = (body: object) => rest.call<Model>('POST', path, { base_model: stack.baseModel, ...body })

test('a model without a project and a name gets both by default', async () => {
  const [first, second] = [await createOne({}), await createOne({ entity: null, project: null, name: null })]
  expect(first).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    entity: expect.stringMatching(/./),
    project: 'default',
    name: expect.stringMatching(/^model-/),
    base_model: stack.baseModel,
    run_id: first.name,
    created_at: expect.any(String),
    latest_step: 0,
    loaded_engines: 0,
    aliases: {},
    retention: null,
    forked_from: null,
  })
  expect(second.name).not.toBe(first.name)
  expect(await rest.call('GET', `${path}/${first.id}`)).toEqual(first)
})

test('fifty concurrent requests for one model create it once', async () => {
  const body = { project: 'tests', name: newName(), return_existing: true }
  const models = await Promise.all(Array.from({ length: 50 }, () => createOne(body)))
  expect(new Set(models.map(({ id }) => id)).size).toBe(1)
  const { rows } = await pool.query('SELECT FROM training.models WHERE name = $1', [body.name])
  expect(rows).toHaveLength(1)
})

test('an existing name is rejected, or returns its model, even if that has another base model', async () => {
  const body = { project: 'tests', name: newName() }
  const model = await createOne(body)
  expect((await create(body)).status).toBe(409)
  expect(await createOne({ ...body, return_existing: true, base_model: 'nobody/knows-it' })).toEqual(model)
})

test.each([
  ['no base model', { base_model: undefined }, 422, ['body', 'base_model'], 'missing'],
  ['an unknown base model', { base_model: 'nobody/knows-it' }, 422, ['body', 'base_model'], 'value_error'],
  ['an impossible base model', { base_model: 'a\0b' }, 422, ['body', 'base_model'], 'value_error'],
  ['a reserved project', { project: 'Settings' }, 422, ['body', 'project'], 'value_error'],
  ['an impossible name', { name: 'a/b' }, 422, ['body', 'name'], 'string_pattern_mismatch'],
  ['a retention that keeps nothing', { retention: {} }, 422, ['body', 'retention'], 'value_error'],
  ['a misspelled retention', { retention: { keep: 3 } }, 422, ['body', 'retention', 'keep'], 'extra_forbidden'],
] as const)('%s is rejected', async (_, body, status, loc, type) => {
  const response = await create(body)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ detail: [{ loc, type }] })
})

test('another or a reserved entity is forbidden', async () => {
  expect((await create({ entity: 'somebody-else' })).status).toBe(403)
  expect((await create({ entity: 'admin' })).status).toBe(403)
})

test('models are listed by age, and a deleted one is still a valid cursor', async () => {
  const project = `list-${randomUUID().slice(0, 8)}`
  const models: Model[] = []
  for (let index = 0; index < 5; index++) models.push(await createOne({ project, name: `m${index}` }))
  const list = async (query: string) => {
    const page = await rest.call<{ data: Model[]; has_more: boolean }>('GET', `${path}?project=${project}${query}`)
    return [page.data.map(({ name }) => name).join(' '), page.has_more]
  }
  expect(await list('')).toEqual(['m0 m1 m2 m3 m4', false])
  expect(await list('&name=m3')).toEqual(['m3', false])
  expect(await list('&limit=2')).toEqual(['m0 m1', true])
  expect(await list('&order=desc&limit=2')).toEqual(['m4 m3', true])
  await rest.call('DELETE', `${path}/${models[1]!.id}`)
  expect(await list(`&after=${models[1]!.id}`)).toEqual(['m2 m3 m4', false])
  expect(await list('')).toEqual(['m0 m2 m3 m4', false])
  const foreign = await rest.send('GET', `${path}?project=${project}&after=${randomUUID()}`)
  expect([foreign.status, await foreign.json()]).toMatchObject([422, { detail: [{ loc: ['query', 'after'] }] }])
})
