import { expect, test } from 'vitest'
import { explainNoHistory, isOfFirstHistory, listHistories, readHistories } from './histories.ts'

const user = (content: string) => ({ role: 'user', content })
const historyOf = (...messages_and_choices: object[]) => ({ messages_and_choices })
const [written, other] = [historyOf(user('a')), historyOf(user('b'))]
const exchanges = { chat_completions: [{}] }
const captured = { trajectory: { exchanges }, histories: [written, other], flags: ['captured'] }

test.each<[string, Parameters<typeof listHistories>[0], object[][]]>([
  ['written', { trajectory: written }, [[user('a')]]],
  [
    'written, with another history',
    { trajectory: { ...written, additional_histories: [other] } },
    [[user('a')], [user('b')]],
  ],
  ['captured', captured, [[user('a')], [user('b')]]],
  ['captured from other models', { trajectory: { exchanges }, histories: [] }, []],
  ['anything else', { trajectory: { additional_histories: [null, { messages_and_choices: 1 }] } }, [[], [], []]],
])('the histories of a trajectory that is %s', (_, stored, items) => {
  expect(listHistories(stored)).toEqual(items)
})

test('turns say their history, but for the first one', () => {
  const turns = readHistories(captured)
  expect(turns.map(({ text, history }) => [text, history])).toEqual([
    ['a', undefined],
    ['b', 1],
  ])
  expect(turns.map((turn) => isOfFirstHistory({ trajectory: written }, turn))).toEqual([true, false])
  expect(turns.map((turn) => isOfFirstHistory(captured, turn))).toEqual([true, true])
})

test('a captured trajectory without histories says why', () => {
  expect(explainNoHistory({ trajectory: {}, flags: [] })).toBeUndefined()
  expect(explainNoHistory({ ...captured, histories: [] })).toMatch(/^None of its exchanges is with this model/)
  expect(explainNoHistory({ trajectory: {}, flags: ['captured'] })).toMatch(/too large/)
})
