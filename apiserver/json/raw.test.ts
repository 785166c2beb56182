import { expect, test } from 'vitest'
import { rawList, rawObject, rawText } from './raw.ts'

test('JSON texts go into an object as they are', () => {
  const text = rawObject({ 'a "b"': 1, val: rawText('{"n": 1.0}'), none: undefined, nothing: null, list: [true] })
  expect(text).toBe('{"a \\"b\\"":1,"val":{"n": 1.0},"nothing":null,"list":[true]}')
})

test('and into a list', () => {
  expect(rawList(['1.0', '"x"'])).toBe('[1.0,"x"]')
  expect(rawList([])).toBe('[]')
})
