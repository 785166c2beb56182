import { expect, test } from 'vitest'
import { decodeGroup, encodeGroup } from './group-cursor.ts'

test.each([[[]], [['']], [['demo', '2026-11-21T05:00:00Z']], [['é"/,']]])('%j is read back', (group) => {
  expect(decodeGroup(encodeGroup(group), group.length)).toEqual(group)
})

test.each<[string, string]>([
  ['another number of dimensions', encodeGroup(['a', 'b'])],
  ['no list', Buffer.from('{"length":1}').toString('base64url')],
  ['a number', Buffer.from('[1]').toString('base64url')],
  ['a NUL', encodeGroup(['a\0'])],
  ['half a character', Buffer.from(String.raw`["\ud800"]`).toString('base64url')],
  ['no JSON', 'abc'],
  ['nothing', ''],
  ['something that is not base64url', `${encodeGroup(['a'])}=`],
])('%s is no cursor of one dimension', (_, cursor) => {
  expect(decodeGroup(cursor, 1)).toBeUndefined()
})
