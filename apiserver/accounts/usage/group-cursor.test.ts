import { expect, test } from 'vitest'
import { decodeGroup, encodeGroup } from './group-cursor.ts'

test.each([[[]], [['']], [['demo', '2026-11-21T05:00:00Z']], [['é"/,']]])('%j is read back', (group) => {
  expect(decodeGroup(encodeGroup(group), group.length)).toEqual(group)
})

test.each<[string, string]>([
  ['another number of dimensions', encodeGroup(['a', 'b'])],
  ['a value that is not a list', Buffer.from('{"length":1}').toString('base64url')],
  ['a number', Buffer.from('[1]').toString('base64url')],
  ['a NUL', encodeGroup(['a\0'])],
  ['a lone surrogate', Buffer.from(String.raw`["\ud800"]`).toString('base64url')],
  ['a text that is not JSON', 'abc'],
  ['nothing', ''],
  ['something that is not base64url', `${encodeGroup(['a'])}=`],
])('%s is not a cursor of one dimension', (_, cursor) => {
  expect(decodeGroup(cursor, 1)).toBeUndefined()
})
