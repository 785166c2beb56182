import { describe, expect, test } from 'vitest'
import { cutChanges, diffConversations } from './trajectory-diff.ts'

const user = (content: string) => ({ role: 'user', content })
const sampled = (...tokens: string[]) => ({
  message: { role: 'assistant', content: tokens.join('') },
  finish_reason: 'stop',
  logprobs: { content: tokens.map((token) => ({ token, logprob: -1, bytes: [...Buffer.from(token)] })) },
})

describe('the difference of two conversations', () => {
  test('is by tokens where both have them, and by words elsewhere', () => {
    const a = [user('Name a colour.'), sampled('It', ' is', ' blue')]
    const b = [user('Name a warm colour.'), sampled('It', ' is', ' red')]
    expect(diffConversations(a, b)).toEqual({
      omitted: 0,
      turns: [
        {
          role: 'user',
          isSame: false,
          changes: [
            { kind: 'same', text: 'Name a ' },
            { kind: 'added', text: 'warm ' },
            { kind: 'same', text: 'colour.' },
          ],
        },
        {
          role: 'assistant',
          isSame: false,
          changes: [
            { kind: 'same', text: 'It is' },
            { kind: 'removed', text: ' blue' },
            { kind: 'added', text: ' red' },
          ],
          tokens: {
            before: { count: 3, first: ['It', ' is', ' blue'].map((text) => ({ text, logprob: -1 })) },
            after: { count: 3, first: ['It', ' is', ' red'].map((text) => ({ text, logprob: -1 })) },
          },
        },
      ],
    })
  })

  test('of a large one is small: far from changes, what is the same is left out', () => {
    const words = Array.from({ length: 60_000 }, (_, index) => `w${index} `)
    const [a, b] = [[user(words.join(''))], [user(words.with(30_000, 'changed ').join(''))]]
    const [turn] = diffConversations(a, b).turns
    expect(turn!.changes.map(({ kind }) => kind)).toEqual(['cut', 'same', 'removed', 'added', 'same', 'cut'])
    expect(JSON.stringify(turn).length).toBeLessThan(2_000)
    const many = Array.from({ length: 700 }, () => user('hi'))
    expect(diffConversations(many, many)).toMatchObject({ omitted: 200, turns: { length: 500 } })
  })
})

test('a text that is the same everywhere shows how it begins', () => {
  const [head, cut] = cutChanges([{ kind: 'same', text: 'x'.repeat(5_000) }])
  expect([head, cut]).toEqual([
    { kind: 'same', text: 'x'.repeat(300) },
    { kind: 'cut', characters: 4_700 },
  ])
})
