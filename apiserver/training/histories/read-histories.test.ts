import { expect, test } from 'vitest'
import { readHistories } from './read-histories.ts'

const user = (content: string) => ({ role: 'user', content })
const said = (content: string) => ({ role: 'assistant', content })
const choice = (content: string, ids?: number[]) => ({
  index: 0,
  finish_reason: 'stop',
  message: { ...said(content), annotations: null },
  ...(ids && { token_ids: ids }),
})

let clock = 0
const chat = (messages: object[], choices: object[], promptIds?: number[], more: object = {}) => ({
  start_time: `2026-11-29T06:40:0${clock++ % 10}.000000Z`,
  request: { model: 'm', messages, ...more },
  response: { choices, ...(promptIds && { prompt_token_ids: promptIds }) },
})
const readChats = (...chats: object[]) =>
  readHistories({ exchanges: { chat_completions: chats } }).map((history) => history.messages_and_choices)

test('exchanges whose prompts extend one another are one history', () => {
  clock = 0
  const first = chat([user('a')], [choice('b', [3])], [1, 2])
  const second = chat([user('a'), said('b'), user('c')], [choice('d', [6])], [1, 2, 3, 4, 5])
  expect(readChats(second, first)).toEqual([[user('a'), choice('b', [3]), user('c'), choice('d', [6])]])
})

test.each<[string, object, object]>([
  ['an edited answer', chat([user('a')], [choice('b')]), chat([user('a'), said('x'), user('c')], [choice('d')])],
  ['other ids', chat([user('a')], [choice('b', [3])], [1]), chat([user('a'), said('b')], [choice('d', [9])], [1, 4])],
  [
    'other tools',
    chat([user('a')], [choice('b')]),
    chat([user('a'), said('b')], [choice('d')], undefined, { tools: [{}] }),
  ],
  ['an unrelated call', chat([user('a')], [choice('b')]), chat([user('z')], [choice('d')])],
])('%s begins another history', (_, first, second) => {
  expect(readChats(first, second)).toHaveLength(2)
})

test('each of several choices is a history, and one of them goes on', () => {
  clock = 0
  const [b, c] = [choice('b'), choice('c')]
  const both = chat([user('a')], [b, c])
  const next = chat([user('a'), said('c'), user('d')], [choice('e')])
  expect(readChats(both, next)).toEqual([
    [user('a'), b],
    [user('a'), c, user('d'), choice('e')],
  ])
})

test('the other protocols become messages and choices', () => {
  const histories = readHistories({
    exchanges: {
      completions: [
        { request: { prompt: 'p' }, response: { choices: [{ text: 'q', finish_reason: 'stop', token_ids: [1] }] } },
      ],
      responses: [
        {
          request: { instructions: 's', input: 'i' },
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
          request: { system: 's', messages: [{ role: 'user', content: 'u' }] },
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

test('histories that a client wrote stay as they are', () => {
  const other = { messages_and_choices: [user('c')], tools: [{}] }
  expect(readHistories({ messages_and_choices: [user('a')], additional_histories: [other, {}] })).toEqual([
    { messages_and_choices: [user('a')], tools: undefined },
    other,
    { messages_and_choices: [], tools: undefined },
  ])
  expect(readHistories({ exchanges: {} })).toEqual([{ messages_and_choices: [], tools: undefined }])
})

test('nothing that a client may send is a fault', () => {
  const odd = { exchanges: { chat_completions: [1, {}, { request: 1, response: { choices: [1, {}] } }] } }
  expect(() => readHistories(odd)).not.toThrow()
})
