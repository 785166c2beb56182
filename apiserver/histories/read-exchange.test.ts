import { expect, test } from 'vitest'
import { readHistories } from './read-histories.ts'

const model = 'team/demo/agent'
const user = (content: string) => ({ role: 'user', content })
const said = (content: string) => ({ role: 'assistant', content })
const read = (trajectory: object) => readHistories({ ...trajectory }, model)

test('the other protocols become messages and choices', () => {
  const histories = read({
    exchanges: {
      completions: [
        {
          request: { model, prompt: 'p' },
          response: { choices: [{ text: 'q', finish_reason: 'stop', token_ids: [1] }] },
        },
      ],
      responses: [
        {
          request: { model, instructions: 's', input: 'i' },
          response: {
            output: [
              { type: 'message', content: [{ type: 'output_text', text: 'o' }] },
              { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
            ],
            token_generations: [{ prompt_token_ids: [1], token_ids: [2, 3] }],
          },
        },
      ],
      messages: [
        {
          request: { model, system: 's', messages: [{ role: 'user', content: 'u' }] },
          response: { content: [{ type: 'text', text: 'v' }], stop_reason: 'max_tokens', token_ids: [5] },
        },
      ],
    },
  })
  expect(histories.map((history) => history.messages_and_choices)).toEqual([
    [user('p'), { finish_reason: 'stop', message: said('q'), token_ids: [1], logprobs: null }],
    [
      { role: 'system', content: 's' },
      user('i'),
      {
        finish_reason: 'stop',
        message: {
          ...said('o'),
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        token_ids: [2, 3],
      },
    ],
    [
      { role: 'system', content: 's' },
      user('u'),
      {
        finish_reason: 'length',
        message: { role: 'assistant', content: [{ type: 'text', text: 'v' }] },
        token_ids: [5],
      },
    ],
  ])
})

test('what one response had is one message of the next', () => {
  const called = { call_id: 'c', name: 'f', arguments: '{}' }
  const output = [
    { type: 'reasoning', summary: [], content: [{ text: 'hm' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'o' }] },
    { type: 'function_call', ...called },
  ]
  const result = { type: 'function_call_output', call_id: 'c', output: '3' }
  const tokens = [
    { token_id: 2, logprob: -0.5 },
    { token_id: 3, logprob: -1 },
  ]
  const responses = [
    { request: { model, input: 'i' }, response: { output, token_generations: [{ output_tokens: tokens }] } },
    {
      request: { model, input: [user('i'), ...output, result] },
      response: { output: [{ type: 'message', content: [{ text: 'end' }] }] },
    },
  ]
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const content = [-0.5, -1].map((logprob) => ({ token: '', logprob }))
  expect(read({ exchanges: { responses } }).map((history) => history.messages_and_choices)).toEqual([
    [
      user('i'),
      {
        finish_reason: 'stop',
        message: { ...said('o'), tool_calls, reasoning: 'hm' },
        token_ids: [2, 3],
        logprobs: { content },
      },
      { role: 'tool', tool_call_id: 'c', content: '3' },
      { finish_reason: 'stop', message: said('end') },
    ],
  ])
})

test('tools and parts have the form of chats', () => {
  const parameters = { type: 'object' }
  const tool = { type: 'function', function: { name: 'f', description: 'd', parameters } }
  const parts = [
    { type: 'input_text', text: 'i' },
    { type: 'input_image', image_url: 'data:' },
  ]
  const named = { name: 'f', description: 'd' }
  const histories = read({
    exchanges: {
      chat_completions: [
        { request: { model, messages: [], tools: [tool] }, response: { choices: [{ message: said('o') }] } },
      ],
      responses: [
        {
          request: {
            model,
            input: [{ type: 'message', role: 'user', content: parts }],
            tools: [{ ...named, parameters }],
          },
          response: { output: [] },
        },
      ],
      messages: [
        {
          request: { model, messages: [], tools: [{ ...named, input_schema: parameters }] },
          response: { content: '' },
        },
      ],
    },
  })
  expect(histories.map(({ tools }) => tools)).toEqual([[tool], [tool], [tool]])
  expect(histories[1]!.messages_and_choices[0]).toEqual({
    role: 'user',
    content: [{ type: 'text', text: 'i' }, parts[1]],
  })
})
