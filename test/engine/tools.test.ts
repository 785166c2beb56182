import { describe, expect, test } from 'vitest'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)

interface Call {
  id: string
  index?: number
  function: { name?: string; arguments?: string }
}
interface Message {
  role: string
  content: string | null
  tool_calls?: Call[]
}
interface Answer {
  message: Message
  finish_reason: string
  token_ids: number[]
}

const describeTool = (name: string, argument: string) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] },
  },
})
const tools = [describeTool('get_weather', 'city'), describeTool('search', 'query')]
const named = { type: 'function', function: { name: 'search' } }
const question = { role: 'user', content: 'Use get_weather for garden.' }
const ask = (body: object) =>
  rest.send('POST', '/v1/chat/completions', {
    model: stack.baseModel,
    messages: [question],
    max_completion_tokens: 64,
    temperature: 0,
    tools,
    ...body,
  })

async function answer(body: object): Promise<Answer> {
  const response = await ask(body)
  expect(response.status, await response.clone().text()).toBe(200)
  return ((await response.json()) as { choices: [Answer] }).choices[0]
}

interface Chunk {
  choices: [{ delta: Partial<Message>; finish_reason: string | null }?]
}

/** Combines a stream's events to a message, as clients do. Also returns in how many pieces the arguments arrived. */
async function stream(body: object): Promise<{ message: Message; finish_reason: string; pieces: number }> {
  const response = await ask({ ...body, stream: true })
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const choices = lines.flatMap((line) => (JSON.parse(line.slice(6)) as Chunk).choices)
  const deltas = choices.map((choice) => choice?.delta)
  const parts = deltas.flatMap((delta) => delta?.tool_calls ?? [])
  const calls: { function: { name: string; arguments: string } }[] = []
  for (const { index = 0, function: part } of parts) {
    const call = (calls[index] ??= { function: { name: '', arguments: '' } })
    call.function.name += part.name ?? ''
    call.function.arguments += part.arguments ?? ''
  }
  return {
    message: {
      role: 'assistant',
      content: deltas.map((delta) => delta?.content ?? '').join('') || null,
      ...(calls.length > 0 && { tool_calls: calls as Call[] }),
    },
    finish_reason: choices.findLast((choice) => choice?.finish_reason)?.finish_reason ?? '',
    pieces: parts.length,
  }
}

const listFunctions = ({ tool_calls: calls = [] }: Message) =>
  calls.map(({ function: { name, arguments: text } }) => ({ name, arguments: JSON.parse(text ?? '') as object }))
const text = expect.any(String) as unknown

describe('a chat with tools', () => {
  test('calls one, in a complete reply and in pieces of a stream', async () => {
    const plain = await answer({})
    expect(plain.finish_reason).toBe('tool_calls')
    expect(listFunctions(plain.message)).toEqual([{ name: text, arguments: expect.any(Object) as unknown }])
    const streamed = await stream({})
    expect(streamed.finish_reason).toBe('tool_calls')
    expect(listFunctions(streamed.message)).toEqual(listFunctions(plain.message))
    expect(streamed.pieces).toBeGreaterThan(3)
  })

  test.each<[string, string | object, object]>([
    ['any of them, with arguments of its schema', 'required', { name: 'get_weather', arguments: { city: text } }],
    ['the named one, with arguments of its schema', named, { name: 'search', arguments: { query: text } }],
  ])('calls %s', async (_, choice, expected) => {
    for (const body of [{ tool_choice: choice }, { tool_choice: choice, parallel_tool_calls: false }]) {
      expect(listFunctions((await answer(body)).message)).toEqual([expected])
      expect(listFunctions((await stream(body)).message)).toEqual([expected])
    }
  })

  test.each([
    { tool_choice: 'none' },
    { tools: [] },
    { tools: [], tool_choice: 'auto' },
    { tools: null, tool_choice: null },
  ])('calls none with %j', async (body) => {
    const { message } = await answer(body)
    expect(message).toMatchObject({ content: text })
    expect(message.tool_calls ?? []).toEqual([])
    expect((await stream(body)).message).toMatchObject({ content: message.content })
  })

  test('may call one if the choice is null', async () => {
    expect(listFunctions((await answer({ tool_choice: null })).message)).toHaveLength(1)
  })

  const history = (given: string) => [
    question,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'get_weather', arguments: given } }],
    },
    { role: 'tool', tool_call_id: 'call-1', content: 'It is sunny in the garden.' },
  ]

  test("continues with the tool's result, also after an invalid call", async () => {
    for (const given of ['{"city": "garden"}', '{"city": "gar', ''])
      expect(await answer({ messages: history(given) })).toMatchObject({
        finish_reason: 'stop',
        message: { content: text },
      })
  })

  test('with an earlier call that is nested too deeply is a 422', async () => {
    const refused = await ask({ messages: history('['.repeat(100_000)) })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ detail: [{ loc: ['body', 'messages'] }] })
  })

  test('that names an unknown tool is a 422 with the location', async () => {
    const refused = await ask({ tools: [], tool_choice: 'required' })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ detail: [{ loc: ['body', 'tool_choice'] }] })
  })
})

describe('an invalid call', () => {
  test.each([['auto'], ['required'], [named]])(
    'that is cut off by the token limit, with the choice %j, is content',
    async (choice) => {
      for (const limit of [3, 12, 24]) {
        const body = { tool_choice: choice, max_completion_tokens: limit }
        const { message, finish_reason: reason } = await answer(body)
        expect(reason).toBe('length')
        expect(message.content).toContain('<tool')
        const streamed = await stream(body)
        expect(streamed.finish_reason).toBe('length')
        expect(streamed.message.content ?? streamed.message.tool_calls).toBeTruthy()
      }
    },
  )

  test.each([
    '<tool_call>garbage</tool_call>',
    '<tool_call>[1]</tool_call>',
    '<tool_call>{"name": null, "arguments": {}}</tool_call>',
    'Hello <tool_call>{"nam": "f" "arguments": {}',
  ])('that the model wrote is content: %s', async (written) => {
    const body = { structured_outputs: { choice: [written] }, max_completion_tokens: 100 }
    const expected = { finish_reason: 'stop', message: { content: written } }
    expect(await answer(body)).toMatchObject(expected)
    expect(await stream(body)).toMatchObject(expected)
  })

  test('with an incomplete character is not an error', async () => {
    const written = String.raw`<tool_call>{"name": "f", "arguments": {"a": "\ud800"}}</tool_call>`
    const body = { structured_outputs: { choice: [written] }, max_completion_tokens: 100 }
    expect(await answer(body)).toMatchObject({ message: { content: written } })
    expect((await ask({ ...body, stream: true })).status).toBe(200)
  })
})

test('a trajectory with calls trains the sampled tokens, complete or streamed', async () => {
  const model = await rest.createModel()
  const body = { model: model.address, temperature: 1, max_completion_tokens: 64 }
  const plain = await Promise.all(Array.from({ length: 4 }, () => answer({ ...body, tool_choice: 'required' })))
  const trajectories = plain.map((choice, index) => ({
    messages_and_choices: [question, choice],
    tools,
    reward: index % 2,
  }))
  const events = await rest.waitForEnd(await rest.startJob(model.id, [{ trajectories }]))
  const trained = events
    .filter(({ type }) => type === 'gradient_step')
    .map(({ data }) => Number(data['num_trainable_tokens']))
  expect(trained.reduce((total, count) => total + count, 0)).toBe(plain.flatMap(({ token_ids: ids }) => ids).length)
})
