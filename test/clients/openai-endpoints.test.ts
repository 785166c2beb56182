import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { ensureClientPython } from '../support/client-python.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)
const stack = useStack()
const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 })
const tools = [
  {
    type: 'function' as const,
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: null,
  },
]
let model: string

beforeAll(async () => {
  const body = { name: `endpoints-${randomUUID()}`, project: 'openai-test', base_model: stack.baseModel }
  const made = await client.post<{ entity: string; name: string }>('/preview/models', { body })
  model = `wandb-artifact:///${made.entity}/openai-test/${made.name}`
})

describe('models', () => {
  test('are found by the names that chats can use', async () => {
    const { data } = await client.models.list()
    for (const id of [stack.baseModel, model.replace('wandb-artifact:///', '')]) {
      expect(await client.models.retrieve(id)).toEqual(data.find((item) => item.id === id))
    }
    expect(await client.models.retrieve(`${model}:step0`)).toMatchObject({
      id: `${model}:step0`,
      root: stack.baseModel,
    })
    const bare = await fetch(`${stack.url}/v1/models/${model}`, {
      headers: { authorization: `Bearer ${stack.apiKey}` },
    })
    expect(await bare.json()).toMatchObject({ id: model })
  })

  test.each(['no/such/model', 'nobody', 'a b'])('%j is not found', async (id) => {
    await expect(client.models.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

describe('completions', () => {
  const ids = async (prompt: string) =>
    (await client.post<{ tokens: number[] }>('/tokenize', { body: { model, prompt } })).tokens

  test('of a text, of several texts, and of token ids', async () => {
    const tokens = await ids('The sea')
    for (const [prompt, choices] of [
      ['The sea', 1],
      [['The sea', 'The sky'], 2],
      [tokens, 1],
      [[tokens, tokens], 2],
    ] as const) {
      const asked: OpenAI.CompletionCreateParamsNonStreaming = { model, prompt: prompt as string, max_tokens: 4 }
      const reply = await client.completions.create(asked)
      expect([reply.model, reply.choices.length]).toEqual([model, choices])
      expect(reply.usage?.total_tokens).toBeGreaterThan(4)
    }
  })

  test('with the prompt and log-probabilities in them', async () => {
    const reply = await client.completions.create({
      model,
      prompt: 'The sea',
      max_tokens: 3,
      echo: true,
      logprobs: 2,
      n: 2,
    })
    for (const { text, logprobs } of reply.choices) {
      expect(text).toMatch(/^The sea/)
      expect(logprobs?.token_logprobs?.[0]).toBeNull()
      expect(logprobs?.tokens?.length).toBe(logprobs?.token_logprobs?.length)
    }
  })

  test('as a stream, with its usage on request', async () => {
    const read = async (more: object) => {
      const asked = { model, prompt: 'The sea', max_tokens: 4, ignore_eos: true, stream: true as const, ...more }
      const chunks: OpenAI.Completion[] = []
      for await (const chunk of await client.completions.create(asked)) chunks.push(chunk)
      expect(chunks.map((chunk) => chunk.model)).toEqual(chunks.map(() => model))
      return chunks.at(-1)!.usage?.completion_tokens
    }
    expect(await read({})).toBeUndefined()
    expect(await read({ stream_options: { include_usage: true } })).toBe(4)
  })

  test('with a grammar, which is checked before an engine gets it', async () => {
    const ask = (form: object) =>
      client.post<OpenAI.Completion>('/completions', {
        body: { model, prompt: 'x', max_tokens: 4, structured_outputs: form },
      })
    expect((await ask({ regex: 'yes|no' })).choices[0]?.text).toMatch(/^(yes|no)$/)
    await expect(ask({ grammar: 'root ::= (' })).rejects.toMatchObject({ status: 400, code: 'unusable_grammar' })
  })

  test('with a suffix are rejected by engines whose model does not support it', async () => {
    await expect(client.completions.create({ model, prompt: 'a', suffix: 'b' })).rejects.toMatchObject({ status: 422 })
  })
})

test('tokens of a text and of a chat, and their text', async () => {
  interface Tokens {
    count: number
    tokens: number[]
    max_model_len: number
  }
  for (const root of [stack.url, `${stack.url}/v1`]) {
    const vllm = new OpenAI({ baseURL: root, apiKey: stack.apiKey, maxRetries: 0 })
    const { tokens, count } = await vllm.post<Tokens>('/tokenize', { body: { model, prompt: 'The sea' } })
    expect(tokens).toHaveLength(count)
    expect(await vllm.post('/detokenize', { body: { model, tokens } })).toEqual({ prompt: 'The sea' })
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const chat = await client.post<Tokens>('/tokenize', { body: { model, messages } })
  const { usage } = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 1,
  })
  expect(chat.count).toBe(usage?.prompt_tokens)
  // An unknown token has no text.
  expect(await client.post('/detokenize', { body: { model, tokens: [1_000_000_000] } })).toEqual({ prompt: '' })
})

test('engines that generate text reject requests for embeddings', async () => {
  const asking = client.embeddings.create({ model: stack.baseModel, input: 'The sea' })
  await expect(asking).rejects.toMatchObject({ status: 400, code: 'unsupported_operation' })
})

describe('responses', () => {
  test('of a registered model, complete and streamed, in a conversation', async () => {
    const first = await client.responses.create({ model, input: 'Tell me about the sea.', max_output_tokens: 8 })
    expect(first).toMatchObject({ model, status: expect.stringMatching(/^(in)?complete/) as string })
    expect(first.usage?.output_tokens).toBeGreaterThan(0)
    const stream = client.responses.stream({
      model,
      input: 'More.',
      previous_response_id: first.id,
      max_output_tokens: 8,
    })
    let text = ''
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta
    const last = await stream.finalResponse()
    expect([last.output_text, last.previous_response_id]).toEqual([text, first.id])
    expect(last.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? Infinity)
    expect((await client.responses.retrieve(last.id)).output_text).toBe(text)
  })

  test('that call a tool, complete and streamed, and continue with its result', async () => {
    const asked = { model: stack.baseModel, input: 'Use get_weather for garden.', tools, temperature: 0 }
    const { id, output } = await client.responses.create(asked)
    expect(output).toMatchObject([
      { type: 'function_call', name: expect.stringMatching(/^get_/) as string, status: 'completed' },
    ])
    const streamed = await client.responses.stream(asked).finalResponse()
    const [call] = output
    if (call?.type !== 'function_call') throw new Error('no call')
    expect(streamed.output).toMatchObject([{ type: 'function_call', name: call.name, arguments: call.arguments }])
    const input = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'Sunny.' }]
    const next = await client.responses.create({ ...asked, input, previous_response_id: id, max_output_tokens: 8 })
    expect(next.output.length).toBeGreaterThan(0)
  })

  test('with a schema and log-probabilities', async () => {
    // The tiny model would fill an object with white space.
    const schema = { enum: ['yes', 'no'] }
    const { output, output_text: text } = await client.responses.create({
      model,
      input: 'A number.',
      text: { format: { type: 'json_schema', name: 'a', schema } },
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
      max_output_tokens: 64,
    })
    expect(['yes', 'no']).toContain(JSON.parse(text))
    const tops = { top_logprobs: [expect.any(Object), expect.any(Object)] }
    expect(output).toMatchObject([
      { content: [{ logprobs: expect.arrayContaining([expect.objectContaining(tops)]) as object }] },
    ])
  })
})

test('the SDK of Python reads the same', async () => {
  const python = await ensureClientPython('openai-python')
  const env = { ...process.env, TRAINYARD_URL: stack.url, TRAINYARD_API_KEY: stack.apiKey, TRAINYARD_MODEL: model }
  const { stdout } = await run(python, [path.join(import.meta.dirname, 'openai-python', 'endpoints.py')], { env })
  expect(JSON.parse(stdout)).toEqual({
    model,
    completions: 2,
    events: ['response.created', 'response.in_progress', 'response.completed'],
    same_text: true,
    items: ['message'],
    deleted: 'NotFoundError',
  })
})
