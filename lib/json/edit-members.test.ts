import { describe, expect, test } from 'vitest'
import { JsonMembers } from './members.ts'

/** Changes a text in a buffer with `slackBytes` behind it. Replaces several spaces by one in the result. */
function change(text: string, changes: Record<string, unknown>, slackBytes = 100): string | undefined {
  const bytes = Buffer.from(text)
  const room = Buffer.alloc(bytes.length + slackBytes, '!')
  bytes.copy(room)
  return new JsonMembers(room.subarray(0, bytes.length)).changeInPlace(changes, room)?.toString().replaceAll(/ +/g, ' ')
}

describe('members that are changed in place', () => {
  test.each([
    ['replace the old value', '{"a":"long","b":2}', { a: 1 }, '{"a":1 ,"b":2}'],
    ['are written at the end if they are longer', '{"a":1,"b":2}', { a: 'long' }, '{ "b":2,"a":"long"}'],
    ['are written behind the last one', '{"a":1}', { c: 'é' }, '{"a":1,"c":"é"}'],
    ['become spaces at the beginning', '{"a":1,"b":2}', { a: undefined }, '{ "b":2}'],
    ['become spaces at the end', '{"a":1,"b":2}', { b: undefined }, '{"a":1 }'],
    ['become spaces between', '{"a":1,"b":2,"c":3}', { b: undefined }, '{"a":1 ,"c":3}'],
    ['become spaces if all are removed', '{"a":1,"b":2}', { a: undefined, b: undefined }, '{ }'],
    ['are all replaced by others', '{"a":1,"b":2}', { a: undefined, b: 'x' }, '{ "b":"x"}'],
    ['have no effect if they are removed but missing', '{"a":1}', { b: undefined }, '{"a":1}'],
    ['are the last ones of their name', '{"a":1,"a":2,"b":3}', { b: 4 }, '{ "a":2,"b":4}'],
    ['have a name with escapes', '{"\\u0061":1,"b":2}', { a: 3 }, '{"\\u0061":3,"b":2}'],
    ['have spaces around', ' { "a" : "x" , "b" : 2 } ', { a: undefined, c: 1 }, '{ "b" : 2 ,"c":1}'],
  ])('%s', (_, text, changes, expected) => {
    expect(change(text, changes)).toBe(expected)
    expect(JSON.parse(expected)).toEqual(JSON.parse(JSON.stringify({ ...JSON.parse(text), ...changes })))
  })

  test('stay unchanged if there is no room', () => {
    const bytes = Buffer.from('{"a":1}!!!!!!!')
    const members = new JsonMembers(bytes.subarray(0, 7))
    expect(members.changeInPlace({ b: 12 }, bytes.subarray(0, 13))).toBeUndefined()
    expect(String(bytes)).toBe('{"a":1}!!!!!!!')
    expect(String(members.changeInPlace({ b: 12 }, bytes))).toBe('{"a":1,"b":12}')
  })

  test('are those of an object', () => {
    expect([change('{}', { a: 1 }), change('[1]', { a: 1 })]).toEqual([undefined, undefined])
  })
})
