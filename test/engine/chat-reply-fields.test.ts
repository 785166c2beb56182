import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useStack } from '../support/stack.ts'
import { ChatClient, type Chunk } from './chat-fields/ask.ts'
import { replyFields } from './chat-fields/interface.ts'

const chat = new ChatClient(useStack())
const described = { logprobs: true, top_logprobs: 1, return_token_ids: true }
const parameters = {
  type: 'object',
  properties: { at: { enum: ['sea'] } },
  required: ['at'],
  additionalProperties: false,
}
const call = {
  tools: [{ type: 'function', function: { name: 'look', parameters, strict: true } }],
  tool_choice: 'required',
  max_completion_tokens: 80,
}
const usage = { include_usage: true }

/** A prompt that is cached afterwards, with a cache salt that no other test uses. */
async function cachePrompt() {
  const body = { cache_salt: randomUUID(), messages: [{ role: 'user', content: 'sea '.repeat(400) }] }
  await chat.reply(body)
  return body
}

const deltas = (chunks: Chunk[]) => chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))

test('a complete reply has all members of the interface', async () => {
  const reply = await chat.reply({ ...described, n: 2, temperature: 1, prompt_logprobs: 1 })
  const has = (names: readonly string[]) => expect.arrayContaining([...names]) as string[]
  expect(Object.keys(reply)).toEqual(has(replyFields.reply))
  expect(Object.keys(reply.usage)).toEqual(has(replyFields.usage))
  expect(reply.choices.map(({ index }) => index)).toEqual([0, 1])
  for (const choice of reply.choices) {
    expect(Object.keys(choice)).toEqual(has(replyFields.choice))
    // Engines leave out an empty list of calls.
    expect(Object.keys({ tool_calls: [], ...choice.message })).toEqual(has(replyFields.message))
  }
  expect(reply).toMatchObject({ object: 'chat.completion', id: expect.stringMatching(/^chatcmpl-/) as unknown })
})

test('the tool calls of a complete reply have ids and arguments', async () => {
  const { message, finish_reason: reason } = await chat.choose(call)
  expect(reason).toBe('tool_calls')
  expect(message.tool_calls).toMatchObject([{ id: expect.any(String) as unknown, type: 'function' }])
  const [{ name, arguments: text }] = message.tool_calls!.map((made) => made.function) as [
    { name: string; arguments: string },
  ]
  expect([name, JSON.parse(text)]).toEqual(['look', { at: 'sea' }])
})

test('the tool calls of a stream come in pieces', async () => {
  const chunks = await chat.stream(call)
  const pieces = deltas(chunks).flatMap((delta) => delta.tool_calls ?? [])
  expect(pieces[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'look' } })
  expect(pieces.length).toBeGreaterThan(2)
  const text = pieces.map((piece) => piece.function.arguments ?? '').join('')
  expect(JSON.parse(text)).toEqual({ at: 'sea' })
  expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('tool_calls')
})

test('the events of a stream have the members of a complete reply', async () => {
  const body = { ...described, stop: '.', max_completion_tokens: 60 }
  const [reply, chunks] = await Promise.all([chat.reply(body), chat.stream({ ...body, stream_options: usage })])
  const [whole] = reply.choices
  const choices = chunks.flatMap((chunk) => chunk.choices)
  expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['chat.completion.chunk']))
  expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set([chat.model]))
  expect(chunks[0]!.prompt_token_ids).toEqual(reply.prompt_token_ids)
  expect(choices.flatMap((choice) => choice.token_ids ?? [])).toEqual(whole!.token_ids)
  expect(choices.flatMap((choice) => choice.logprobs?.content ?? []).map(({ bytes }) => bytes)).toEqual(
    whole!.logprobs!.content.map(({ bytes }) => bytes),
  )
  expect(choices.at(-1)).toMatchObject({ finish_reason: 'stop', stop_reason: '.' })
  expect(whole).toMatchObject({ finish_reason: 'stop', stop_reason: '.' })
  expect(chunks.at(-1)!.usage.completion_tokens).toBe(reply.usage.completion_tokens)
})

test('the usage has the number of cached prompt tokens, in a stream too', async () => {
  const body = await cachePrompt()
  const details = { cached_tokens: expect.any(Number) as unknown }
  expect((await chat.reply(body)).usage.prompt_tokens_details).toMatchObject(details)
  const chunks = await chat.stream({ ...body, stream_options: usage })
  expect(chunks.at(-1)!.usage.prompt_tokens_details).toMatchObject(details)
})
