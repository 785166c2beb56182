import { expect, test } from 'vitest'
import fc from 'fast-check'
import { alignTurns, diffWords, splitWords, type Change } from './diff.ts'

const join = (changes: Change[], without: Change['kind']) =>
  changes
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('')

test('words keep their spaces and their letters of any script', () => {
  expect(splitWords('Red, größer 色')).toEqual(['Red', ',', ' ', 'größer', ' ', '色'])
  expect(splitWords('')).toEqual([])
})

test('a replaced word is one removal and one addition', () => {
  expect(diffWords(splitWords('It is blue.'), splitWords('It is red.'))).toEqual([
    { kind: 'same', text: 'It is ' },
    { kind: 'removed', text: 'blue' },
    { kind: 'added', text: 'red' },
    { kind: 'same', text: '.' },
  ])
})

test('both texts can be read from their difference', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', ' '), { maxLength: 30 })
  fc.assert(
    fc.property(words, words, (a, b) => {
      const changes = diffWords(a, b)
      expect([join(changes, 'added'), join(changes, 'removed')]).toEqual([a.join(''), b.join('')])
    }),
  )
})

test('texts that share nothing are replaced as a whole, in bounded time', () => {
  const [a, b] = [Array.from({ length: 5_000 }, (_, i) => `a${i}`), Array.from({ length: 5_000 }, (_, i) => `b${i}`)]
  expect(diffWords(a, b).map(({ kind }) => kind)).toEqual(['removed', 'added'])
})

test('turns are aligned by their roles, so that an added one shifts nothing', () => {
  const turns = (text: string) => text.split(' ').map((role, at) => ({ role, at }))
  const aligned = (a: string, b: string) => alignTurns(turns(a), turns(b)).map(({ a: x, b: y }) => [x?.at, y?.at])
  expect(aligned('system user assistant', 'system user tool assistant')).toEqual([
    [0, 0],
    [1, 1],
    [undefined, 2],
    [2, 3],
  ])
  expect(aligned('user assistant', 'user')).toEqual([
    [0, 0],
    [1, undefined],
  ])
  const long = (role: string) => Array.from({ length: 700 }, () => role).join(' ')
  expect(aligned(long('a'), long('b'))).toHaveLength(700)
})
