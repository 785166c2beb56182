import { expect, test } from 'vitest'
import { readCallTurns } from './call-chat.ts'

const user = { role: 'user', content: 'Hi' }
const answer = { role: 'assistant', content: 'Hello' }
const json = JSON.stringify

test.each<[string, { inputs: unknown; output: unknown }]>([
  ['OpenAI', { inputs: { model: 'm', messages: [user] }, output: { choices: [{ message: answer }] } }],
  ['an answer that is a message', { inputs: { messages: [user] }, output: answer }],
  ['an answer that is a text', { inputs: { messages: [user] }, output: 'Hello' }],
  [
    'Anthropic',
    { inputs: { messages: [user] }, output: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] } },
  ],
  [
    'the conventions of OpenTelemetry',
    {
      inputs: { 'gen_ai.input.messages': json([{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }]) },
      output: {
        'gen_ai.output.messages': json([{ role: 'assistant', parts: [{ type: 'text', content: 'Hello' }] }]),
      },
    },
  ],
  [
    'OpenInference',
    {
      inputs: { llm: { input_messages: [{ message: user }] } },
      output: { llm: { output_messages: [{ message: answer }] } },
    },
  ],
])('a chat of %s has its messages in their order', (_, call) => {
  expect(readCallTurns(call).map(({ role, text }) => [role, text])).toEqual([
    ['user', 'Hi'],
    ['assistant', 'Hello'],
  ])
})

test('system texts, tools and thoughts are in their places', () => {
  const inputs = {
    system: 'Be kind.',
    messages: [user, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '7' }] }],
  }
  const content = [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'tool_use', name: 'add', input: { a: 1 } },
  ]
  const turns = readCallTurns({ inputs, output: { role: 'assistant', content } })
  expect(turns.map(({ role }) => role)).toEqual(['system', 'user', 'tool', 'assistant'])
  expect(turns[2]?.text).toBe('7')
  expect(turns[3]).toMatchObject({ reasoning: 'Hm.', toolCalls: [{ name: 'add', arguments: '{\n  "a": 1\n}' }] })
})

test.each<[string, { inputs: unknown; output: unknown }]>([
  ['numbers', { inputs: { x: 1 }, output: 2 }],
  ['a text', { inputs: { question: 'Hi' }, output: '' }],
  ['nothing', { inputs: undefined, output: undefined }],
  ['messages of another kind', { inputs: { messages: [{ level: 'info' }] }, output: null }],
  ['a member of Object.prototype', { inputs: { 'constructor.name': 1 }, output: {} }],
])('%s is no chat', (_, call) => {
  expect(readCallTurns(call)).toEqual([])
})
