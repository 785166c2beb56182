import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

// Replies of models that are trained here carry the tokens that were sampled. ART trains on nothing else.

const stack = useStack()
const rest = createRest(stack)
const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 })
const messages = [{ role: 'user' as const, content: 'Tell me about the sea.' }]
let model: string

beforeAll(async () => {
  model = (await rest.createModel()).address
})

interface Sampled {
  index: number
  prompt_token_ids?: number[] | null
  token_ids?: number[]
  sampling?: object
  finish_reason: string | null
}
interface ChatChoice extends Sampled {
  message: { content: string | null; tool_calls?: object[]; function_call?: object | null }
  logprobs?: {
    content: { token: string; logprob: number; top_logprobs: { token: string; logprob: number }[] }[]
  } | null
}
interface Reply<Choice> {
  choices: Choice[]
  prompt_token_ids?: number[] | null
  usage: { prompt_tokens: number; completion_tokens: number }
}

const chat = (body: object) =>
  rest.call<Reply<ChatChoice>>('POST', '/v1/chat/completions', { model, messages, max_tokens: 12, ...body })

async function stream<Chunk>(path: string, body: object): Promise<Chunk[]> {
  const text = await (await rest.send('POST', path, { model, stream: true, ...body })).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Chunk)
}

/** What ART 0.5.23 adds to each chat. */
const default523 = {
  return_token_ids: true,
  return_tokens_as_token_ids: true,
  nvext: { extra_fields: ['engine_data'] },
  chat_template_kwargs: { preserve_thinking: true },
}
const parameters = {
  type: 'object',
  properties: { at: { enum: ['sea'] } },
  required: ['at'],
  additionalProperties: false,
}
const look = { name: 'look', parameters, strict: true }
const tools = [{ type: 'function', function: look }]

describe('chats', () => {
  test.each<[string, object]>([
    ['plain', {}],
    ['with several choices', { n: 3 }],
    ['with a stop sequence', { stop: [' '], max_tokens: 40 }],
    ['that end by themselves', { max_tokens: 200 }],
    ['with a tool call', { tools, tool_choice: 'required', max_tokens: 80 }],
    ['with parts that a parser leaves out', { tools, tool_choice: 'auto', max_tokens: 40 }],
  ])('%s have ids, log-probabilities and a usage that agree', async (_, more) => {
    const body = { ...default523, ...more }
    const reply = await chat(body)
    expect(reply.prompt_token_ids).toHaveLength(reply.usage.prompt_tokens)
    for (const { prompt_token_ids: prompt, token_ids: ids, logprobs } of reply.choices) {
      expect(prompt).toEqual(reply.prompt_token_ids)
      expect(logprobs!.content.map(({ token }) => token)).toEqual(ids!.map((id) => `token_id:${id}`))
      for (const { logprob } of logprobs!.content) expect(logprob).toBeGreaterThan(-100)
    }
    const sampled = reply.choices.flatMap(({ token_ids: ids }) => ids!)
    expect(reply.usage.completion_tokens).toBe(sampled.length)
  })

  test('keep what a client turns off', async () => {
    const [choice] = (await chat({ logprobs: false, return_token_ids: false, temperature: 0.3 })).choices
    expect(choice).toMatchObject({ logprobs: null, token_ids: null })
    expect(Object.keys(choice!)).not.toContain('prompt_token_ids')
    expect(Object.keys(choice!)).not.toContain('sampling')
  })

  test.each<[string, object]>([
    ['plain', {}],
    ['with several choices', { n: 2 }],
    ['with a tool call', { tools, tool_choice: 'required', max_tokens: 80 }],
  ])('that are streamed, %s, have them too, in the first event of each choice', async (_, more) => {
    interface Chunk extends Reply<Sampled & Pick<ChatChoice, 'logprobs'>> {}
    const body = { messages, max_tokens: 12, ...default523, ...more, temperature: 0.3 }
    const chunks = await stream<Chunk>('/v1/chat/completions', { ...body, stream_options: { include_usage: true } })
    const choices = chunks.flatMap((chunk) => chunk.choices)
    const firsts = choices.filter(({ index }, at) => choices.findIndex((other) => other.index === index) === at)
    const prompt = chunks[0]!.prompt_token_ids
    const grammar = 'tools' in more ? { structured_outputs: true } : {}
    for (const first of firsts)
      expect(first).toMatchObject({ prompt_token_ids: prompt, sampling: { temperature: 0.3, ...grammar } })
    expect(choices.filter((choice) => choice.prompt_token_ids)).toEqual(firsts)
    const ids = choices.flatMap((choice) => choice.token_ids ?? [])
    const named = choices.flatMap((choice) => choice.logprobs?.content ?? []).map(({ token }) => token)
    expect(named).toEqual(ids.map((id) => `token_id:${id}`))
    expect(chunks.at(-1)!.usage).toMatchObject({ prompt_tokens: prompt!.length, completion_tokens: ids.length })
  })

  test("that the client's library joins from a stream keep the ids of the prompt in their choices", async () => {
    const joined = await client.chat.completions.stream({ model, messages, max_tokens: 4 }).finalChatCompletion()
    const { prompt_token_ids: prompt } = joined.choices[0] as unknown as Sampled
    expect(prompt).toHaveLength((await chat({ max_tokens: 4 })).usage.prompt_tokens)
  })
})

describe('settings that change the distribution', () => {
  const readSampling = async (body: object) => (await chat(body)).choices.map(({ sampling }) => sampling)

  test('are in each choice, if there are any', async () => {
    expect(await readSampling({ n: 2 })).toEqual([undefined, undefined])
    expect(await readSampling({ temperature: 1, top_p: 1, top_k: -1 })).toEqual([undefined])
    const set = { temperature: 0.3, top_p: 0.8, top_k: 20, min_p: 0.1 }
    expect(await readSampling({ ...set, n: 2 })).toEqual([set, set])
    expect(await readSampling({ temperature: 0, bad_words: ['sea'], tools, tool_choice: 'required' })).toEqual([
      { temperature: 0, bad_words: true, structured_outputs: true },
    ])
  })

  test('are in the log-probabilities', async () => {
    const first = async (body: object) => {
      const { choices } = await chat({ logprobs: true, top_logprobs: 20, max_tokens: 1, ...body })
      const { top_logprobs: top } = choices[0]!.logprobs!.content[0]!
      // The sampled token is the first one.
      return top.map(({ logprob }) => logprob).toSorted((one, other) => other - one)
    }
    const [plain, cold, greedy, nucleus] = await Promise.all([
      first({}),
      first({ temperature: 0.3 }),
      first({ temperature: 0 }),
      first({ top_k: 2 }),
    ])
    const [likeliest, second] = [plain[0]!, plain[1]!]
    // A temperature divides the differences.
    expect(cold[0]! - cold[1]!).toBeCloseTo((likeliest - second) / 0.3, 2)
    expect(cold.map(Math.exp).reduce((sum, value) => sum + value)).toBeCloseTo(1, 2)
    // The most likely token is taken, and its log-probability is the model's.
    for (const at of [0, 1, 2]) expect(greedy[at]).toBeCloseTo(plain[at]!, 3)
    expect(Math.exp(nucleus[0]!) + Math.exp(nucleus[1]!)).toBeCloseTo(1, 5)
    expect(nucleus[0]! - nucleus[1]!).toBeCloseTo(likeliest - second, 3)
    // JSON has no infinity.
    expect(nucleus[2]).toBe(-9999)
  })
})

describe('completions', () => {
  interface TextChoice extends Sampled {
    text: string
    logprobs: { tokens: string[]; token_logprobs: number[] } | null
  }
  const complete = (body: object) =>
    rest.call<Reply<TextChoice>>('POST', '/v1/completions', { model, prompt: 'The sea', max_tokens: 6, ...body })

  test('have the ids of their own prompt, and of what was sampled', async () => {
    const reply = await complete({ prompt: ['The sea', 'A'], n: 2, temperature: 0.3 })
    for (const choice of reply.choices) {
      const { logprobs, token_ids: ids } = choice
      expect(choice).toMatchObject({ sampling: { temperature: 0.3 } })
      expect([logprobs!.tokens.length, logprobs!.token_logprobs.length]).toEqual([ids!.length, ids!.length])
      const { prompt } = await rest.call<{ prompt: string }>('POST', '/detokenize', {
        model,
        tokens: choice.prompt_token_ids,
      })
      expect(prompt).toBe(choice.index < 2 ? 'The sea' : 'A')
    }
    expect(reply.usage.completion_tokens).toBe(reply.choices.flatMap(({ token_ids: ids }) => ids!).length)
  })

  test('that are streamed have them too', async () => {
    const chunks = await stream<Reply<TextChoice>>('/v1/completions', { prompt: 'The sea', max_tokens: 6, top_p: 0.9 })
    const choices = chunks.flatMap((chunk) => chunk.choices)
    const [first, ...later] = choices
    expect(first).toMatchObject({ prompt_token_ids: expect.any(Array) as unknown, sampling: { top_p: 0.9 } })
    expect(later.filter((choice) => choice.prompt_token_ids)).toEqual([])
    const counts = [
      choices.flatMap(({ token_ids: ids }) => ids!),
      choices.flatMap(({ logprobs }) => logprobs!.token_logprobs),
    ].map((list) => list.length)
    expect(counts[0]).toBe(counts[1])
    expect(counts[0]).toBeGreaterThan(1)
  })

  test('keep what a client turns off, and an echo', async () => {
    const [off] = (await complete({ logprobs: null, return_token_ids: false })).choices
    expect(off).toMatchObject({ logprobs: null, token_ids: null, prompt_token_ids: null })
    const [echo] = (await complete({ echo: true })).choices
    expect(echo!.text).toMatch(/^The sea/)
    expect(echo).toMatchObject({ token_ids: null, prompt_token_ids: null })
  })
})

describe('responses', () => {
  interface Generation {
    prompt_token_ids: number[]
    output_tokens: { token_id: number; logprob: number }[]
    output_indices: number[]
    sampling?: object
  }
  interface Answer {
    id: string
    status: string
    output: { type: string; content?: { text: string; logprobs: object[] }[] }[]
    usage: { input_tokens: number; output_tokens: number }
    token_generations?: Generation[]
  }
  const respond = (body: object) => rest.call<Answer>('POST', '/v1/responses', { model, input: 'The sea?', ...body })
  const functionTool = { type: 'function', ...look }
  const call = { tools: [functionTool], tool_choice: 'required', max_output_tokens: 80 }

  function expectWhole({ token_generations: generations, usage, output }: Answer) {
    expect(generations).toHaveLength(1)
    const [generation] = generations!
    expect(generation!.prompt_token_ids).toHaveLength(usage.input_tokens)
    expect(generation!.output_tokens).toHaveLength(usage.output_tokens)
    for (const { logprob } of generation!.output_tokens) expect(logprob).toBeLessThanOrEqual(0)
    expect(generation!.output_indices).toEqual(output.map((_, index) => index))
  }

  test.each<[string, object]>([
    ['a text', { max_output_tokens: 12 }],
    ['a call', call],
  ])('with %s have the tokens that became their items', async (_, body) => {
    expectWhole(await respond(body))
    const events = await stream<{ type: string; response?: Answer }>('/v1/responses', { input: 'The sea?', ...body })
    expectWhole(events.at(-1)!.response!)
    const earlier = events.slice(0, -1).filter(({ response }) => response?.token_generations)
    expect(earlier).toEqual([])
  })

  test('have log-probabilities in their parts only if the client asks for them', async () => {
    const include = ['message.output_text.logprobs']
    const [plain, asked] = await Promise.all([
      respond({ max_output_tokens: 4 }),
      respond({ max_output_tokens: 4, include }),
    ])
    expect(plain.output[0]!.content![0]!.logprobs).toEqual([])
    expect(asked.output[0]!.content![0]!.logprobs.length).toBeGreaterThan(0)
  })

  test('go on from a stored one with its tokens, which are not stored', async () => {
    const first = await respond({ max_output_tokens: 8 })
    const next = await respond({
      input: 'And then?',
      previous_response_id: first.id,
      max_output_tokens: 8,
      temperature: 0.3,
    })
    expectWhole(next)
    expect(next.token_generations![0]!.sampling).toEqual({ temperature: 0.3 })
    const stored = await rest.call<Answer>('GET', `/v1/responses/${first.id}`)
    expect(stored).toMatchObject({ id: first.id, output: first.output })
    expect(Object.keys(stored)).not.toContain('token_generations')
  })

  test('of a base model have none', async () => {
    const answer = await respond({ model: stack.baseModel, max_output_tokens: 4 })
    expect(Object.keys(answer)).not.toContain('token_generations')
  })
})

describe('functions, the first form of tools,', () => {
  const functions = [look]
  const asked = { functions, function_call: { name: 'look' }, max_tokens: 80 }

  test('are called, and the call is in both forms', async () => {
    const { choices, usage } = await chat(asked)
    const { message, finish_reason: reason, token_ids: ids } = choices[0]!
    expect(message.function_call).toEqual({ name: 'look', arguments: expect.any(String) as unknown })
    expect(message.tool_calls).toMatchObject([{ function: message.function_call }])
    expect(reason).toBe('stop')
    expect(ids).toHaveLength(usage.completion_tokens)
  })

  test('are called in a stream', async () => {
    interface Chunk {
      choices: { delta: { function_call?: { name?: string; arguments?: string } }; finish_reason: string | null }[]
    }
    const chunks = await stream<Chunk>('/v1/chat/completions', { messages, ...asked })
    const pieces = chunks.flatMap(({ choices }) => choices).flatMap(({ delta }) => delta.function_call ?? [])
    expect(pieces[0]).toMatchObject({ name: 'look' })
    expect(JSON.parse(pieces.map((piece) => piece.arguments ?? '').join(''))).toEqual({ at: 'sea' })
  })

  test('have results that the model reads as those of tools', async () => {
    const call = { name: 'look', arguments: '{"at": "sea"}' }
    const old = [
      ...messages,
      { role: 'assistant', content: null, function_call: call },
      { role: 'function', name: 'look', content: 'Blau, schön.' },
    ]
    const id = 'call00001'
    const present = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: call }] },
      { role: 'tool', name: 'look', tool_call_id: id, content: 'Blau, schön.' },
    ]
    const [before, now] = await Promise.all([
      chat({ functions, messages: old }),
      chat({ tools, messages: present, parallel_tool_calls: false }),
    ])
    expect(before.prompt_token_ids).toEqual(now.prompt_token_ids)
  })

  test('and tools are not accepted together', async () => {
    const response = await rest.send('POST', '/v1/chat/completions', { model, messages, functions, tools })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('send either functions') as unknown },
    })
  })
})
