import { expect, test } from 'vitest'
import { readTurns, revealHidden } from './chat.ts'

const utf8 = new TextEncoder()
const token = (text: string, bytes = [...utf8.encode(text)]) => ({ token: text, bytes, logprob: -0.5 })

test('messages and choices become turns', () => {
  const turns = readTurns([
    { role: 'user', content: 'Name a colour.' },
    {
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        reasoning_content: 'red is warm',
        tool_calls: [{ function: { name: 'pick', arguments: '{"colour":"red"}' } }],
      },
    },
    { role: 'tool', content: [{ type: 'text', text: 'picked' }] },
  ])
  expect(turns.map(({ role, text, isSampled }) => [role, text, isSampled])).toEqual([
    ['user', 'Name a colour.', false],
    ['assistant', '', true],
    ['tool', 'picked', false],
  ])
  expect(turns[1]).toMatchObject({
    reasoning: 'red is warm',
    finish: 'tool_calls',
    toolCalls: [{ name: 'pick', arguments: '{\n  "colour": "red"\n}' }],
  })
})

test('tokens have the text of their bytes, and a character that is split stands at its last token', () => {
  const [first, second] = [utf8.encode('é').slice(0, 1), utf8.encode('é').slice(1)]
  const content = [token('a'), token('token_id:7', [...first]), token('token_id:8', [...second]), token(' b')]
  const [turn] = readTurns([{ message: { content: 'aé b' }, logprobs: { content } }])
  expect(turn!.tokens!.map(({ text }) => text)).toEqual(['a', '', 'é', ' b'])
})

test('log-probabilities without texts are no tokens', () => {
  const [turn] = readTurns([{ message: { content: 'a' }, logprobs: { content: [{ token: '', logprob: -1 }] } }])
  expect(turn).toMatchObject({ text: 'a', tokens: undefined })
})

test.each([
  [null, 0],
  ['text', 0],
  [[null, 7, 'text', [], {}], 5],
  [[{ message: null }, { role: 5, content: {} }, { message: { tool_calls: 'none' }, logprobs: { content: [1] } }], 3],
  [[{ tool_calls: [null, {}, { function: null }, { function: { arguments: '{' } }] }], 1],
])('what is no conversation is shown and breaks nothing: %j', (value, count) => {
  expect(readTurns(value)).toHaveLength(count)
})

test('characters that hide or reorder text are visible; line breaks and tabs stay', () => {
  expect(revealHidden('a\u202eb\u200bc\u001b[31m\n\té\u{1f600}')).toBe('a⟨202e⟩b⟨200b⟩c⟨001b⟩[31m\n\té\u{1f600}')
})
