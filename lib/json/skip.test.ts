import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseCases } from '../../test/support/random-cases.ts'
import { NotJson } from './parse.ts'
import { skipKey, skipSpace, skipValue, TooDeep } from './skip.ts'

test('any JSON value is skipped to its end, with any text after it', () => {
  const after = fc.constantFrom('', ' ', ',', ']', '}', ':', '"', '{', 'x')
  fc.assert(
    fc.property(fc.json(), after, (text, rest) => {
      // A letter or digit would become a part of the number.
      fc.pre(!/[\w.]$/.test(text) || !/^\w/.test(rest))
      expect(skipValue(Buffer.from(`\n ${text}${rest}`), 0, 0)).toBe(2 + Buffer.byteLength(text))
    }),
    chooseCases(200),
  )
})

test.each(['', ' ', '{', '[1', '[1 2]', '[1,]', '{"a"}', '{"a":}', '{,}', '"a', '"\n"', String.raw`"\x"`, '-', 'nul'])(
  'rejects %j',
  (text) => {
    expect(() => skipValue(Buffer.from(text), 0, 0)).toThrow(NotJson)
  },
)

describe('500 levels are skipped', () => {
  const nest = (depth: number) => Buffer.from('[{"a":'.repeat(depth / 2) + '[]' + '}]'.repeat(depth / 2))

  test.each([
    [498, 0],
    [490, 8],
  ])('%i levels with a list in them, and %i around them', (depth, around) => {
    expect(skipValue(nest(depth), 0, around)).toBe(nest(depth).length)
    expect(() => skipValue(nest(depth), 0, around + 2)).toThrow(TooDeep)
  })
})

test('a key is skipped with its colon, and white space by itself', () => {
  expect(skipKey(Buffer.from(' "a" \t: 1'), 0)).toBe(7)
  expect(() => skipKey(Buffer.from('"a" 1'), 0)).toThrow(NotJson)
  expect(() => skipKey(Buffer.from('a:1'), 0)).toThrow(NotJson)
  expect(skipSpace(Buffer.from('\r\n\t x'), 0)).toBe(4)
})
