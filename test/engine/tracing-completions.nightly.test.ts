import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const entity = `team-${randomUUID()}`
const project_id = `${entity}/chats`
let pool: Pool
let key: string
let client: TraceClient
let rest: Rest

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  key = await addKey(pool, entity)
  client = createTraceClient(stack.url, key)
  rest = createRest(stack, key)
})
afterAll(() => pool.end())

interface Completion {
  choices: { message: { role: string; content: string }; finish_reason: string; index: number }[]
  usage: { prompt_tokens: number; completion_tokens: number }
}
interface Call {
  ended_at: string | null
  exception: string | null
  inputs: unknown
  output: Completion | null
  summary: { usage?: unknown; weave: { status: string } }
}
type Line = {
  _meta?: { weave_call_id: string }
  error?: string
  choices?: { index: number; delta: { content?: string } }[]
}

const question = [{ role: 'user', content: 'Name a colour.' }]
const ask = (inputs: object = {}, more: object = {}) => ({
  project_id,
  inputs: { model: stack.baseModel, messages: question, max_tokens: 8, temperature: 0, seed: null, ...inputs },
  ...more,
})
const create = (inputs: object = {}, more: object = {}) =>
  client.call<{ response: Completion; weave_call_id: string }>('/completions/create', ask(inputs, more))
const stream = async (inputs: object = {}, more: object = {}) =>
  (await client.post('/completions/create_stream', ask(inputs, more))).body as Line[]
const readText = (lines: Line[]) =>
  lines.flatMap(({ choices }) => (choices ?? []).map(({ delta }) => delta.content ?? '')).join('')
const readCall = async (id: string) => (await client.call<{ call: Call }>('/call/read', { project_id, id })).call
const countCalls = async () => (await client.call<{ count: number }>('/calls/query_stats', { project_id })).count

test('an answer is complete, and a call records it with its usage', async () => {
  const { response, weave_call_id: id } = await create()
  expect(response.choices[0]).toMatchObject({ index: 0, message: { role: 'assistant' } })
  expect(response.usage.completion_tokens).toBeGreaterThan(0)
  expect(await readCall(id)).toMatchObject({
    op_name: 'weave.completions_create',
    attributes: {},
    inputs: { model: stack.baseModel, messages: question, max_tokens: 8, temperature: 0 },
    output: response,
    exception: null,
    summary: { usage: { [stack.baseModel]: response.usage }, weave: { status: 'success' } },
  })
})

test('a stream gives the same text, and its call has the equal complete reply', async () => {
  const { response } = await create({ model: `coreweave/${stack.baseModel}` })
  const lines = await stream({ stream: true })
  expect(readText(lines)).toBe(response.choices[0]!.message.content)
  const { prompt_tokens, completion_tokens } = response.usage
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  expect(lines.at(-1)).toMatchObject({ choices: [], usage })
  const choices = response.choices.map(({ index, finish_reason, message: { role, content } }) => ({
    index,
    finish_reason,
    message: { role, content },
  }))
  expect(await readCall(lines[0]!._meta!.weave_call_id)).toMatchObject({
    exception: null,
    output: { object: 'chat.completion', model: stack.baseModel, usage, choices },
    summary: { usage: { [stack.baseModel]: usage }, weave: { status: 'success' } },
  })
})

test('choices of a stream are kept apart', async () => {
  const lines = await stream({ n: 2, temperature: 1 })
  const { output } = await readCall(lines[0]!._meta!.weave_call_id)
  const texts = [0, 1].map((wanted) =>
    readText(lines.map(({ choices = [] }) => ({ choices: choices.filter(({ index }) => index === wanted) }))),
  )
  expect(texts.join('')).not.toBe('')
  expect(output!.choices.map(({ message }) => message.content)).toEqual(texts)
})

test('without tracking no call is recorded', async () => {
  const before = await countCalls()
  const { response, weave_call_id: id } = await create({}, { track_llm_call: false })
  const lines = await stream({}, { track_llm_call: false })
  expect([id, lines.some(({ _meta: meta }) => meta), readText(lines)]).toEqual([
    null,
    false,
    response.choices[0]!.message.content,
  ])
  expect(await countCalls()).toBe(before)
})

test('the messages of a prompt go first, with their variables', async () => {
  const messages = [{ role: 'system', content: 'You speak {language}. Use no {{braces}}.' }]
  const val = {
    _type: 'MessagesPrompt',
    messages,
    _class_name: 'MessagesPrompt',
    _bases: ['Prompt', 'Object', 'BaseModel'],
  }
  const { digest } = await client.call<{ digest: string }>('/obj/create', {
    obj: { project_id, object_id: 'polite', val },
  })
  const asked = {
    messages: [{ role: 'user', content: 'Name {what}.' }],
    template_vars: { language: 'German', what: 'a colour' },
  }
  const filled = await create({
    messages: [
      { role: 'system', content: 'You speak German. Use no {braces}.' },
      { role: 'user', content: 'Name a colour.' },
    ],
  })
  for (const prompt of [`weave:///${project_id}/object/polite:${digest}`, 'polite', 'polite:v0']) {
    const { response, weave_call_id: id } = await create({ ...asked, prompt })
    expect([response.usage, response.choices[0]!.message]).toEqual([
      filled.response.usage,
      filled.response.choices[0]!.message,
    ])
    expect((await readCall(id)).inputs).toMatchObject({ ...asked, prompt })
  }
  const lines = await stream({ ...asked, prompt: 'polite' })
  expect(readText(lines)).toBe(filled.response.choices[0]!.message.content)
})

test('an error of the engine is in the answer, and in the call', async () => {
  const inputs = { max_tokens: 10_000_000 }
  const refused = (await create(inputs)) as unknown as { response: { error: string }; weave_call_id: string }
  expect(refused.response).toEqual({ error: expect.stringContaining('max_tokens') as string })
  const lines = await stream(inputs)
  expect(lines).toEqual([{ _meta: { weave_call_id: expect.any(String) as string } }, refused.response])
  for (const id of [refused.weave_call_id, lines[0]!._meta!.weave_call_id]) {
    expect(await readCall(id)).toMatchObject({
      exception: refused.response.error,
      summary: { weave: { status: 'error' } },
    })
  }
})

describe('if the client leaves, the call has', () => {
  // An engine may return hundreds of tokens of a tiny model at once, before a client can disconnect.
  const long = { max_tokens: 3_500, ignore_eos: true }
  const exception = 'The client disconnected before the answer was complete.'
  const leave = async (path: string, leaves: AbortController) =>
    post(stack.url + path, key, ask(long), { signal: leaves.signal })
  const expectNewest = (call: object) =>
    eventually(async () => {
      const newest = { project_id, limit: 1, sort_by: [{ field: 'started_at', direction: 'desc' }] }
      expect((await client.post('/calls/stream_query', newest)).body).toMatchObject([call])
    })

  test('the received part of a stream', async () => {
    const leaves = new AbortController()
    const reader = (await leave('/completions/create_stream', leaves)).body!.getReader()
    let text = ''
    while (text.split('\n').length < 4) text += Buffer.from((await reader.read()).value ?? '').toString()
    leaves.abort()
    const { weave_call_id: id } = (JSON.parse(text.slice(0, text.indexOf('\n'))) as Line)._meta!
    await expectNewest({ id, exception, ended_at: expect.any(String) as string, output: { object: 'chat.completion' } })
    const { output } = await readCall(id)
    expect(output!.choices[0]!.message.content).not.toBe('')
    expect(output!.usage).toBeUndefined()
  })

  test('no output if no reply had arrived', async () => {
    const leaves = new AbortController()
    const left = leave('/completions/create', leaves)
    setTimeout(() => leaves.abort(), 300)
    await expect(left).rejects.toThrow('aborted')
    await expectNewest({ exception, ended_at: expect.any(String) as string, output: null })
  })
})

test('usage is charged to the project', async () => {
  const otherKey = await addKey(pool, `${entity}-2`)
  const other = createTraceClient(stack.url, otherKey)
  const target = { project_id: `${entity}-2/play`, track_llm_call: false }
  const { response } = await other.call<{ response: Completion }>('/completions/create', ask({}, target))
  await other.post('/completions/create_stream', ask({}, target))
  const { prompt_tokens, completion_tokens } = response.usage
  await eventually(async () => {
    const usage = await createRest(stack, otherKey).call<{ data: unknown[] }>(
      'GET',
      '/v1/preview/usage?group_by=project',
    )
    expect(usage.data).toMatchObject([
      { project: 'play', requests: 2, prompt_tokens: 2 * prompt_tokens, completion_tokens: 2 * completion_tokens },
    ])
  })
})

test('a model of this service answers too, by its address', async () => {
  const model = await rest.createModel()
  const { response, weave_call_id: id } = await create({ model: model.address })
  expect(response.choices[0]!.message.role).toBe('assistant')
  expect((await readCall(id)).summary.usage).toEqual({ [model.address]: response.usage })
})
