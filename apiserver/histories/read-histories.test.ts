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

const model = 'team/demo/agent'

let clock = 0
const chat = (messages: object[], choices: object[], promptIds?: number[], more: object = {}) => ({
  start_time: `2026-11-29T06:40:0${clock++ % 10}.000000Z`,
  request: { model, messages, ...more },
  response: { choices, ...(promptIds && { prompt_token_ids: promptIds }) },
})
const read = (trajectory: object) => readHistories({ ...trajectory }, model)
const readChats = (...chats: object[]) =>
  read({ exchanges: { chat_completions: chats } }).map((history) => history.messages_and_choices)

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

test('a history that was continued is not continued again', () => {
  clock = 0
  const [first, second, third] = ['b', 'd', 'f'].map((content) => choice(content))
  const answered = [user('a'), first!.message]
  const chats = [
    chat([user('a')], [first!]),
    chat([...answered, user('c')], [second!]),
    chat([...answered, user('e')], [third!]),
  ]
  expect(readChats(...chats)).toEqual([
    [user('a'), first, user('c'), second],
    [...answered, user('e'), third],
  ])
})

test.each([
  ['model', true],
  ['wandb-artifact:///model', true],
  ['wandb-artifact:///model:step3', true],
  ['model:latest', true],
  ['model-2', false],
  ['other/model', false],
  ['openai/judge', false],
])('exchanges with %s are of the model: %s', (named, isOwn) => {
  const asked = chat([user('a')], [choice('b')], undefined, { model: named.replace('model', model) })
  expect(readChats(asked)).toHaveLength(isOwn ? 1 : 0)
})

test('without a name in the request, that of the response counts', () => {
  const exchange = chat([user('a')], [choice('b')], undefined, { model: '' })
  const response = { ...exchange.response, model: 'openai/judge' }
  expect(readChats(exchange, { ...exchange, response })).toEqual([])
  expect(readChats({ ...exchange, response: { ...response, model } })).toHaveLength(1)
})

test('exchanges are ordered by their times, whatever their zones and fractions', () => {
  const at = (start_time: string, end_time: string, content: string) => ({
    ...chat([user(content)], [choice(content)]),
    start_time,
    end_time,
  })
  const late = '2026-11-29T07:00:00Z'
  const exchanges = [
    at('2026-11-29T06:00:00.000002Z', late, 'e'),
    at('2026-11-29T06:00:00.000001Z', late, 'd'),
    at('2026-11-29T06:00:00Z', late, 'c'),
    at('2026-11-29T06:00:00Z', '2026-11-29T06:30:00Z', 'b'),
    at('2026-11-29T07:59:59+02:00', late, 'a'),
    at('soon', late, '0'),
  ]
  expect(readChats(...exchanges).map(([first]) => first!['content'])).toEqual(['0', 'a', 'b', 'c', 'd', 'e'])
})

test('many choices to a long prompt take a bounded time', () => {
  const long = chat(
    Array.from({ length: 20_000 }, () => user('a')),
    Array.from({ length: 20_000 }, () => choice('b')),
  )
  expect(readChats(long)).toHaveLength(9)
})

test('histories that a client wrote stay as they are', () => {
  const other = { messages_and_choices: [user('c')], tools: [{}] }
  expect(read({ messages_and_choices: [user('a')], additional_histories: [other, {}] })).toEqual([
    { messages_and_choices: [user('a')], tools: undefined },
    other,
    { messages_and_choices: [], tools: undefined },
  ])
  expect(read({ exchanges: {} })).toEqual([{ messages_and_choices: [], tools: undefined }])
})

test('nothing that a client may send is a fault', () => {
  const odd = { exchanges: { chat_completions: [1, {}, { request: 1, response: { choices: [1, {}] } }] } }
  expect(() => read(odd)).not.toThrow()
})
