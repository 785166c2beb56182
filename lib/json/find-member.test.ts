import { expect, test } from 'vitest'
import { findMember } from './find-member.ts'

test.each([
  ['a member', '{"b":1, "a" : [1.0] }', '[1.0]'],
  ['the last of a key given twice', '{"a":1,"a":2}', '2'],
  ['a key with escapes', String.raw`{"\u0061":1}`, '1'],
  ['not a member of a member', '{"b":{"a":1}}', undefined],
  ['nothing in an array', '[{"a":1}]', undefined],
  ['nothing in a text', '"a"', undefined],
])('%s is found', (_, text, expected) => {
  expect(findMember(Buffer.from(text), 'a')?.toString()).toBe(expected)
})
