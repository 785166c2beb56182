import { expect, test } from 'vitest'
import {
  findLastAnswer,
  joinMessages,
  joinModelName,
  readNumber,
  shortenModelName,
  splitModelName,
  takeMessages,
  writeChatBody,
  writePrompt,
} from './playground.ts'

test.each([
  ['team/demo/agent:step3', { model: 'team/demo/agent', version: 'step3' }],
  ['team/demo/agent', { model: 'team/demo/agent', version: 'latest' }],
  ['trainyard/tiny-chat', { model: 'trainyard/tiny-chat', version: 'latest' }],
  ['agent:prod', { model: 'agent', version: 'prod' }],
])('the name %s is a model and its version', (name, parts) => {
  expect(splitModelName(name)).toEqual(parts)
  expect(joinModelName(parts.model, parts.version)).toBe(name)
})

test('names of the project are short, others are whole', () => {
  const scope = { entity: 'team', project: 'demo' }
  expect(shortenModelName('team/demo/agent:step3', scope)).toBe('agent:step3')
  expect(shortenModelName('team/demo2/agent', scope)).toBe('team/demo2/agent')
})

test.each([
  ['0.7', 0.7],
  ['0', 0],
  ['2.1', undefined],
  ['-1', undefined],
  ['x', undefined],
  [' ', undefined],
  [undefined, undefined],
])('the temperature %s is %s', (text, value) => {
  expect(readNumber(text, 0, 2)).toBe(value)
})

test('a system prompt comes first, unless the conversation has one', () => {
  const user = { role: 'user', content: 'a' }
  expect(joinMessages('be kind', [user])).toEqual([{ role: 'system', content: 'be kind' }, user])
  expect(joinMessages('', [user])).toEqual([user])
  const own = { role: 'system', content: 'own' }
  expect(joinMessages('be kind', [own, user])).toEqual([own, user])
})

test('a request has only the settings that are set', () => {
  const nothing = { system: '', temperature: undefined, maxTokens: undefined, seed: undefined }
  expect(writeChatBody('a', [], nothing)).toEqual({ model: 'a', messages: [] })
  expect(writeChatBody('a', [], { ...nothing, temperature: 0, maxTokens: 5, seed: 0 })).toEqual({
    model: 'a',
    messages: [],
    temperature: 0,
    max_completion_tokens: 5,
    seed: 0,
  })
})

test('a long prompt is not in the address', () => {
  expect(writePrompt('a')).toBe('a')
  expect(writePrompt('')).toBeUndefined()
  expect(writePrompt('a'.repeat(2_001))).toBeUndefined()
})

test('the messages before a turn of a trajectory are those that a chat takes', () => {
  const calls = [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const items = [
    { role: 'user', content: 'a', extra: 1 },
    { finish_reason: 'tool_calls', logprobs: {}, message: { role: 'assistant', content: null, tool_calls: calls } },
    { role: 'tool', tool_call_id: '1', content: 'b' },
    'what is this',
    { message: { role: 'assistant', content: 'c' } },
  ]
  const last = findLastAnswer(items)
  expect(last).toBe(4)
  expect(takeMessages(items, last)).toEqual([
    { role: 'user', content: 'a' },
    { role: 'assistant', tool_calls: calls },
    { role: 'tool', content: 'b', tool_call_id: '1' },
  ])
  expect(takeMessages(items, 1)).toEqual([{ role: 'user', content: 'a' }])
  expect([takeMessages({}, 1), findLastAnswer(undefined), findLastAnswer([{ role: 'user' }])]).toEqual([[], 0, 1])
})
