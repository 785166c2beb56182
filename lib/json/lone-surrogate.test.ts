import { expect, test } from 'vitest'
import { searchLoneSurrogate } from './lone-surrogate.ts'

test.each([
  ['a text', 'a\ud800', []],
  ['an item', ['a', ['b', '\udc00']], ['1', '1']],
  ['a key', { a: { '\ud83d': 1 } }, ['a']],
  ['the first of several', { a: 1, b: '\ud800', c: '\ud800' }, ['b']],
  ['none in whole pairs', { '😀': ['😀'] }, undefined],
  ['none in other values', [1, null, true], undefined],
])('half of a surrogate pair is found in %s', (_, value, expected) => {
  expect(searchLoneSurrogate(value)).toEqual(expected)
})
