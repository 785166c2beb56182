import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseCases } from '../../test/support/random-cases.ts'
import { describeSyntaxError, findSyntaxError } from './find-syntax-error.ts'

test.each([
  ['{"reward": NaN}', 11, 'JSON has no NaN: send a number, or null'],
  ['[1, -Infinity]', 4, 'JSON has no -Infinity: send a number, or null'],
  ['{"a": None}', 6, 'use null, not None'],
  ["{'a': 1}", 1, 'expected a name in double quotes'],
  ['{"a": 1,}', 8, 'expected a name in double quotes'],
  ['[1, 2,]', 6, 'a value is missing'],
  ['{"a" 1}', 5, 'expected a colon after the name'],
  ['{"a": 1 "b": 2}', 8, 'a comma or } is missing'],
  ['[1 2]', 3, 'a comma or ] is missing'],
  ['[01]', 2, 'a comma or ] is missing'],
  ['[1}', 2, 'a comma or ] is missing'],
  ['{"a": [1', 8, 'unexpected end of the text'],
  ['{"a": "b', 8, 'unexpected end of the text'],
  ['', 0, 'unexpected end of the text'],
  ['{} {}', 3, 'unexpected text after the end of the value'],
  ['["a\nb"]', 3, 'a text has a control character that is not escaped'],
  [String.raw`["\x"]`, 3, 'a string has an invalid escape'],
  ['[.5]', 1, 'a value is missing'],
  ['[1.]', 2, 'a comma or ] is missing'],
  ['[-]', 1, 'a value is missing'],
])('%s', (text, index, reason) => {
  expect(findSyntaxError(Buffer.from(text))).toMatchObject({ at: index, reason })
})

test('an error is found in exactly those texts that JSON.parse rejects', () => {
  const character = fc.constantFrom(...String.raw`{}[]:,"\01.-eEtruefalsnuN`.split(''), '\n', ' ', '\0')
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: character }),
    fc.tuple(fc.json(), fc.nat()).map(([json, at]) => json.slice(0, at)),
  )
  fc.assert(
    fc.property(text, (written) => {
      let isJson = true
      try {
        JSON.parse(written)
      } catch {
        isJson = false
      }
      expect(findSyntaxError(Buffer.from(written)) === undefined).toBe(isJson)
    }),
    chooseCases(400),
  )
})

test('an error has its position in bytes', () => {
  expect(describeSyntaxError(Buffer.from('{"naïve": NaN}'), 100)).toBe(
    'not valid JSON at byte 111, after "{\\"naïve\\": ": JSON has no NaN: send a number, or null',
  )
})
