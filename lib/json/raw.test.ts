import { describe, expect, test } from 'vitest'
import { addMember, rawList, rawObject, rawText, startMember } from './raw.ts'

test('JSON texts are written into an object unchanged', () => {
  const text = rawObject({ 'a "b"': 1, val: rawText('{"n": 1.0}'), none: undefined, nothing: null, list: [true] })
  expect(text).toBe('{"a \\"b\\"":1,"val":{"n": 1.0},"nothing":null,"list":[true]}')
})

test('JSON texts are written into a list unchanged', () => {
  expect(rawList(['1.0', '"x"'])).toBe('[1.0,"x"]')
  expect(rawList([])).toBe('[]')
})

describe('an added member', () => {
  test.each([
    ['in an empty object', '{}', '{"b":[2]}'],
    ['in an empty object with white space', ' { } ', ' { "b":[2]}'],
    ['after others, whose text stays unchanged', '{"a": 1.0, "c":{}\n}', '{"a": 1.0, "c":{}\n,"b":[2]}'],
    ['after a text with braces', '{"a":"{}"}', '{"a":"{}","b":[2]}'],
    ['if its key occurs twice', '{"b":1}', '{"b":1,"b":[2]}'],
  ])('%s', (_, object, expected) => {
    expect(addMember(object, 'b', '[2]')).toBe(expected)
  })

  test('whose value the caller writes', () => {
    expect(`${startMember('{"a":1}', 'a "b"')}2}`).toBe('{"a":1,"a \\"b\\"":2}')
  })
})
