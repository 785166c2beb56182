import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
// The error has the form of this interface, and also OpenAI's.
const refusal = (sentence: unknown) => ({
  detail: sentence,
  error: expect.objectContaining({ message: sentence }) as unknown,
})

let pool: Pool
let foreign: Rest
let model: { id: string; entity: string; name: string; address: string }

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  foreign = createRest(stack, await addKey(pool, `other-${randomUUID()}`))
  model = await rest.createModel()
})
afterAll(() => pool.end())

describe('chat', () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const post = (body: object, api = rest) =>
    api.send('POST', '/v1/chat/completions', { max_tokens: 2, messages, ...body })

  test.each<[string, object, string[]]>([
    ['no messages', { messages: undefined }, ['messages']],
    ['an empty list of messages', { messages: [] }, ['messages']],
    ['a message without a role', { messages: [{ content: 'x' }] }, ['messages', '0', 'role']],
    ['a text for n', { n: '2' }, ['n']],
    ['a text for max_tokens', { max_tokens: 'x' }, ['max_tokens']],
    ['a negative temperature', { temperature: -1 }, ['temperature']],
    ['more tokens than the context of the model', { max_tokens: 100_000_000 }, ['max_tokens']],
    ['a priority', { priority: 1 }, ['priority']],
    ['an unknown response format', { response_format: { type: 'x' } }, ['response_format', 'type']],
  ])('%s is 422', async (_, change, loc) => {
    const answer = await post({ model: model.address, ...change })
    expect(answer.status).toBe(422)
    const { detail } = (await answer.json()) as { detail: { loc: string[]; msg: string; type: string }[] }
    expect(detail.map((fault) => fault.loc)).toContainEqual(['body', ...loc])
  })

  test.each([
    ['an unknown name', 'no/such/model'],
    ['a missing step', ':step7'],
    ['the id of a checkpoint', randomUUID()],
    ['a path', '../../etc/passwd'],
    ['a NUL', 'a\0b'],
  ])('%s is 404', async (_, name) => {
    const answer = await post({ model: name.startsWith(':') ? model.address + name : name })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual(refusal(expect.any(String)))
  })

  test("another entity's model is the same 404 as an unknown model", async () => {
    const answer = await post({ model: model.address }, foreign)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual(
      refusal(`The model ${model.address} does not exist. GET /v1/models lists all models.`),
    )
  })

  test.each(['', ':latest', ':step0'])(
    'an untrained model answers under the name %j, and the reply has this name',
    async (suffix) => {
      const name = model.address + suffix
      const answer = await post({ model: name })
      const reply = (await answer.json()) as { model: string; choices: { token_ids: number[]; logprobs: object }[] }
      expect(reply).toMatchObject({ model: name, choices: [{ token_ids: expect.any(Array) as unknown, logprobs: {} }] })
    },
  )

  test('a model of the longest name has an address', async () => {
    const { address } = await rest.createModel(`${randomUUID()}-${'N.'.repeat(45)}x`)
    expect(await rest.sample(`${address}:step0`, 'hi', { max_completion_tokens: 1 })).toHaveLength(1)
  })

  test('an explicit false or null stays', async () => {
    const answer = await post({ model: model.address, logprobs: false, return_token_ids: null })
    const { choices } = (await answer.json()) as { choices: { token_ids: unknown; logprobs: unknown }[] }
    expect(choices[0]).toMatchObject({ token_ids: null, logprobs: null })
  })

  test('the engine stops when the client leaves', async () => {
    const left = new AbortController()
    const body = { model: model.address, messages, stream: true, max_tokens: 1_000, ignore_eos: true }
    const response = await rest.send('POST', '/v1/chat/completions', body, left.signal)
    const reader = response.body!.getReader()
    await reader.read()
    left.abort()
    await expect(reader.read()).rejects.toThrow()
    expect(await rest.sample(model.address, 'hi', { max_completion_tokens: 1 })).toHaveLength(1)
  })

  test('GET /v1/models lists base models and own models only', async () => {
    const ids = async (api: typeof rest) => {
      const { data } = await api.call<{ data: { id: string; object: string; created: number }[] }>('GET', '/v1/models')
      return data.map(({ id }) => id)
    }
    const own = `${model.entity}/tests/${model.name}`
    expect(await ids(rest)).toEqual(expect.arrayContaining([stack.baseModel, own]))
    const foreignIds = await ids(foreign)
    expect(foreignIds).toContain(stack.baseModel)
    expect(foreignIds).not.toContain(own)
  })
})

test('the system check reports every part, and what the engine itself reports', async () => {
  const report = await rest.call<{ ok: boolean; parts: Record<string, { ok: boolean; detail: string }> }>(
    'GET',
    '/v1/system-check',
  )
  const ok = { ok: true, detail: expect.any(String) as unknown }
  const versions = [expect.stringMatching(/^\d+\.\d+/) as unknown]
  expect(report).toMatchObject({
    ok: true,
    parts: {
      postgres: ok,
      kubernetes: ok,
      operator: ok,
      status_server: ok,
      artifact_store: ok,
      engines: {
        ...ok,
        engines: [{ ready: true, base_model: 'tiny-chat', adapters: expect.any(Number) as unknown }],
        versions,
      },
      trainers: { ...ok, ready: expect.any(Number) as unknown },
    },
  })
})
