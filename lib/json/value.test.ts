import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseCases } from '../../test/support/random-cases.ts'
import { JsonError } from './parse.ts'
import { JsonNumber, parseValue, TooManyValues, ValueBudget, writeValue } from './value.ts'

describe('a value loses nothing', () => {
  test.each([
    [
      'numbers as they were written',
      '[1.0,1e400,-0,1E5,12345678901234567890]',
      '[1.0,1e400,-0,1E5,12345678901234567890]',
    ],
    ['keys that look like numbers, in their order', '{"b":1,"10":2,"9":3}', '{"b":1,"10":2,"9":3}'],
    ['the key __proto__', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
    ['the last of a key given twice', '{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'],
    ['no white space', ' { "a" : [ true , null ] }\n', '{"a":[true,null]}'],
    ['texts with escapes', String.raw`"\u00e9\"\n\\"`, String.raw`"é\"\n\\"`],
  ])('%s', (_, text, expected) => {
    expect(writeValue(parseValue(text))).toBe(expected)
  })

  test('the types are distinct', () => {
    expect(parseValue('{"a":[1,"1",false,null]}')).toEqual(new Map([['a', [new JsonNumber('1'), '1', false, null]]]))
  })

  test('exactly valid JSON is accepted', () => {
    const text = fc.oneof(fc.json(), fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(spoil))
    fc.assert(
      fc.property(text, (source) => {
        expect(attempt(() => JSON.parse(writeValue(parseValue(source))) as unknown)).toEqual(
          attempt(() => JSON.parse(source) as unknown),
        )
      }),
      chooseCases(600),
    )
  })

  test.each(['', '01', '1.', 'tru', '"\t"', '"', '{"a"}', '[1,]', '1 2', '['.repeat(501) + ']'.repeat(501)])(
    'rejects %.20s',
    (text) => {
      expect(() => parseValue(text)).toThrow(JsonError)
    },
  )
})

test('the number of values is limited, and texts share the limit', () => {
  const budget = new ValueBudget()
  const text = `[${'1,'.repeat(399_999)}1]`
  parseValue(text, budget)
  parseValue(text, budget)
  expect(() => parseValue(text, budget)).toThrow(TooManyValues)
  expect(parseValue(`[${'1,'.repeat(1_200_000)}1]`)).toHaveLength(1_200_001)
})

function spoil([json, at, extra]: [string, number, string]): string {
  return json.slice(0, at % json.length) + extra + json.slice((at % json.length) + 1)
}

function attempt(parse: () => unknown): unknown {
  try {
    return { value: parse() }
  } catch {
    return 'refused'
  }
}
