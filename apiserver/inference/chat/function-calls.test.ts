import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { checkChat } from './check-chat.ts'
import { usesFunctions } from './function-calls.ts'

const target = { engineName: 'engine', trainable: false, cacheSalt: 'salt' }
const functions = [{ name: 'get_weather', parameters: { type: 'object' } }]
const tools = [{ type: 'function', function: functions[0] }]
const question = { role: 'user', content: 'Weather in Zürich?' }
const call = { name: 'get_weather', arguments: '{"city":"Bern"}' }

/** The request that an engine gets. */
const send = (more: object): unknown => {
  const document = parseJson(Buffer.from(JSON.stringify({ messages: [question], ...more })))
  return JSON.parse(document.members.change(checkChat(document).change(target)).toString())
}
const sent = { cache_salt: 'salt', model: 'engine' }
const asked = { ...sent, messages: [question], tools, parallel_tool_calls: false, function_call: 'auto' }

describe('functions become tools', () => {
  test.each<[string, object, unknown]>([
    ['without a choice', {}, 'auto'],
    ['with a null', { function_call: null }, 'auto'],
    ['none', { function_call: 'none' }, 'none'],
    ['auto', { function_call: 'auto' }, 'auto'],
    [
      'one by name',
      { function_call: { name: 'get_weather' } },
      { type: 'function', function: { name: 'get_weather' } },
    ],
  ])('%s', (_, more, choice) => {
    expect(send({ functions, ...more })).toEqual({ ...asked, tool_choice: choice })
  })

  test('and empty ones are left out', () => {
    expect(send({ functions: [], function_call: 'none' })).toEqual({ ...sent, messages: [question] })
  })
})

test('messages with one call, and the results of functions, become messages of tools', () => {
  const messages = [
    question,
    { role: 'assistant', content: null, function_call: call },
    { role: 'function', name: 'get_weather', content: '21' },
    { role: 'assistant', content: 'Once more.', function_call: { ...call, name: 'other' }, tool_calls: [] },
    { role: 'function', name: 'get_weather', content: null },
    { role: 'function', name: 'unknown', content: 'é' },
  ]
  const made = (id: string, name: string) => [{ id, type: 'function', function: { ...call, name } }]
  expect(send({ messages })).toEqual({
    ...sent,
    messages: [
      question,
      { role: 'assistant', content: null, tool_calls: made('call00001', 'get_weather') },
      { role: 'tool', name: 'get_weather', content: '21', tool_call_id: 'call00001' },
      { role: 'assistant', content: 'Once more.', tool_calls: made('call00003', 'other') },
      { role: 'tool', name: 'get_weather', content: '', tool_call_id: 'call00001' },
      { role: 'tool', name: 'unknown', content: 'é', tool_call_id: 'call00005' },
    ],
  })
})

test('a reply that comes back with a call in both forms keeps its tool call', () => {
  const reply = { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: call }] }
  const messages = [question, { ...reply, function_call: call }, { role: 'function', name: call.name, content: '21' }]
  expect(send({ messages })).toMatchObject({
    messages: [question, reply, { role: 'tool', content: '21', tool_call_id: 'a' }],
  })
})

test.each<[string, object, string]>([
  ['functions and tools', { functions, tools }, 'functions: Value error, send either functions or tools'],
  [
    'both choices',
    { functions, function_call: 'auto', tool_choice: 'auto' },
    'function_call: Value error, send either function_call or tool_choice',
  ],
  ['an unknown choice', { functions, function_call: 'required' }, 'function_call: Value error, it should be auto'],
  [
    'a choice without functions',
    { function_call: { name: 'a' } },
    'function_call: Value error, a function can be chosen only of functions',
  ],
  [
    'too many functions',
    { functions: Array.from({ length: 513 }, () => ({ name: 'a' })) },
    'tools: A chat should have at most 512 tools',
  ],
  [
    'long functions',
    { functions: [{ name: 'a'.repeat(300_000) }] },
    'functions: functions should have at most 262144 bytes',
  ],
  [
    'a call that is a text',
    { messages: [{ role: 'assistant', function_call: 'a' }] },
    'messages.0.function_call: Input should be a valid dictionary',
  ],
])('%s are rejected', (_, more, sentence) => {
  expect(() => send(more)).toThrow(`body.${sentence}`)
})

test('a chat uses functions only if they are set', () => {
  const plain = [question, { role: 'assistant', function_call: null }, { role: 'tool' }]
  expect(
    [null, [], {}, { messages: plain, functions: null }, { messages: 1 }, { messages: [null] }].filter(usesFunctions),
  ).toEqual([])
  expect(
    [{ functions }, { function_call: 'auto' }, { messages: [...plain, { role: 'function' }] }].map(usesFunctions),
  ).toEqual([true, true, true])
})
