import { describe, expect, test } from 'vitest'
import { asksForUsage, ChatMeter, withUsage } from './chat-meter.ts'
import type { ChatRequest } from '../chat/chat-schema.ts'
import { readMembers } from './rename-model.ts'

const messages = [{ role: 'user', content: 'hi' }]
const usage = '"usage":{"prompt_tokens":7,"total_tokens":12,"completion_tokens":5}'
const piece = '{"id":"c","choices":[{"index":0,"delta":{"content":"x"}}]}'
const last = `{"id":"c","choices":[],${usage}}`

/** Returns the events that the client gets, and the tokens that were counted. */
function meter(events: string[], hidesUsage: boolean) {
  const chat = new ChatMeter(hidesUsage)
  const passed = events.filter((event) => chat.passEvent(Buffer.from(event)))
  return { passed, tokens: chat.tokens }
}

describe('a stream', () => {
  test('whose client did not ask for usage is counted, and only the usage event is left out', () => {
    expect(meter([piece, piece, last, '[DONE]'], true)).toEqual({
      passed: [piece, piece, '[DONE]'],
      tokens: { promptTokens: 7, completionTokens: 5 },
    })
  })

  test('whose client asked for usage keeps every event', () => {
    expect(meter([piece, last, '[DONE]'], false)).toEqual({
      passed: [piece, last, '[DONE]'],
      tokens: { promptTokens: 7, completionTokens: 5 },
    })
  })

  test('with usage in every event keeps them, and the last one counts', () => {
    const early = `{"choices":[{"delta":{}}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`
    const late = `{"choices":[{"delta":{}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`
    expect(meter([early, late], true)).toEqual({
      passed: [early, late],
      tokens: { promptTokens: 7, completionTokens: 3 },
    })
  })

  test('that breaks off counts a token for each event', () => {
    expect(meter([piece, piece, piece], true).tokens).toEqual({ promptTokens: 0, completionTokens: 3 })
  })

  test.each([
    ['text that looks like usage', '{"choices":[{"delta":{"content":"{\\"choices\\":[],\\"usage\\":{}}"}}]}'],
    ['usage that is null', '{"choices":[{"delta":{"content":"\\"usage\\""}}],"usage":null}'],
    ['an error', '{"error":{"message":"the \\"usage\\" is wrong"}}'],
    ['no JSON', '"usage"'],
  ])('passes %s', (_, event) => {
    expect(meter([event], true).passed).toEqual([event])
  })

  test.each([-1, 1.5, '7', null, 1e300])('with a count of %j, which is not valid, counts no tokens', (count) => {
    const event = JSON.stringify({ choices: [], usage: { prompt_tokens: count, completion_tokens: 2 } })
    expect(meter([event], true).tokens).toEqual({ promptTokens: 0, completionTokens: 2 })
  })
})

test('a complete reply is counted', () => {
  const chat = new ChatMeter(false)
  chat.readReply(readMembers(Buffer.from(`{"id":"c","choices":[{"message":{}}],${usage}}`)))
  expect(chat.tokens).toEqual({ promptTokens: 7, completionTokens: 5 })
})

test.each<[string, Partial<ChatRequest>, boolean]>([
  ['is no stream', {}, false],
  ['is no stream, explicitly', { stream: false }, false],
  ['is a stream', { stream: true }, true],
  ['has null options', { stream: true, stream_options: null }, true],
  ['has no options', { stream: true, stream_options: {} }, true],
  ['wants none', { stream: true, stream_options: { include_usage: false } }, true],
  ['wants usage', { stream: true, stream_options: { include_usage: true } }, false],
  ['says something else', { stream: true, stream_options: { include_usage: 'yes' } }, false],
])('the gateway asks for usage only where it must, when a request %s: %j', (_, request, asked) => {
  expect(asksForUsage({ messages, ...request })).toBe(asked)
})

test("the engine gets the client's stream options, except one that would change other events", () => {
  expect(withUsage({ include_usage: false, continuous_usage_stats: true, other: 1 })).toEqual({
    include_usage: true,
    other: 1,
  })
})
