import { randomUUID } from 'node:crypto'
import OpenAI from 'openai'
import { beforeAll, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'

const own = useApiServer()
const entity = `team-${randomUUID()}`
let apiKey = ''
beforeAll(async () => {
  apiKey = await addKey(own.database.pool, entity, 'member')
})

const connect = (key = apiKey) => new OpenAI({ baseURL: `${own.server.url}/v1`, apiKey: key, maxRetries: 0 })
const chat = { model: 'nobody/has/this', messages: [{ role: 'user' as const, content: 'Hi' }] }

test.each([
  [
    'an unknown path',
    (client: OpenAI) => client.moderations.create({ input: 'Hi' }),
    {
      status: 404,
      message: expect.stringContaining('404 POST /v1/moderations does not exist. GET /docs lists'),
      type: 'not_found_error',
      code: 'unknown_path',
    },
  ],
  [
    'a model that does not exist',
    (client: OpenAI) => client.chat.completions.create(chat),
    {
      status: 404,
      message: expect.stringContaining('404 The model nobody/has/this does not exist.'),
      type: 'not_found_error',
      code: 'model_not_found',
    },
  ],
  [
    'a request of a model that does not exist',
    (client: OpenAI) => client.models.retrieve('nobody/has/this'),
    { status: 404, message: expect.stringContaining('404 The model nobody/has/this'), code: 'model_not_found' },
  ],
  [
    'a response that does not exist',
    (client: OpenAI) => client.responses.retrieve('resp_1'),
    { status: 404, message: '404 Response resp_1 not found', type: 'not_found_error', code: 'not_found' },
  ],
  [
    'a completion that is invalid',
    (client: OpenAI) => client.completions.create({ model: 'm', prompt: 'Hi', best_of: 3 }),
    { status: 422, type: 'invalid_request_error', code: 'invalid_request', param: 'best_of' },
  ],
  [
    'a chat that is invalid',
    (client: OpenAI) => client.chat.completions.create({ ...chat, n: 'two' as unknown as number }),
    {
      status: 422,
      message: '422 n: Input should be a valid integer',
      type: 'invalid_request_error',
      code: 'invalid_request',
      param: 'n',
    },
  ],
  [
    'an unknown key',
    () => connect('ty_unknown').models.list(),
    {
      status: 401,
      message: expect.stringContaining('401 The API key is unknown, revoked or expired'),
      type: 'authentication_error',
      code: 'invalid_api_key',
    },
  ],
])("OpenAI's SDK shows the error for %s", async (_, ask, expected) => {
  const error = await ask(connect()).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(OpenAI.APIError)
  expect(error).toMatchObject({ param: null, ...expected, requestID: expect.any(String) })
})

const get = (path: string, headers = {}) =>
  fetch(own.server.url + path, { headers: { authorization: `Bearer ${apiKey}`, ...headers } })

test('an error of the training interface has only the member detail', async () => {
  const unknown = await get('/v1/preview/modles')
  expect(await unknown.json()).toEqual({
    detail: 'GET /v1/preview/modles does not exist. GET /docs lists all operations.',
  })
  expect(Object.keys((await (await get('/v1/preview/models/x')).json()) as object)).toEqual(['detail'])
})

test('the error for an unknown path of traces has their form', async () => {
  const unknown = await get('/traces/objs/queries')
  expect(await unknown.json()).toEqual({
    reason: expect.stringContaining('GET /traces/objs/queries does not exist.'),
  })
})

test('every answer has the id of its request: the one that the client sent, or a new one', async () => {
  expect((await get('/v1/health')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect((await get('/traces/server_info', { 'x-request-id': 'mine-1' })).headers.get('x-request-id')).toBe('mine-1')
  expect((await get('/v1/none', { 'x-request-id': 'mine-2' })).headers.get('x-request-id')).toBe('mine-2')
})
