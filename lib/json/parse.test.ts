import { expect, test } from 'vitest'
import { decodeText, findTextStart, JsonError, NotJson, parseText } from './parse.ts'

test('a text begins after a byte order mark', () => {
  expect([findTextStart(Buffer.from('\uFEFF1')), findTextStart(Buffer.from('1')), findTextStart(Buffer.of())]).toEqual([
    3, 0, 0,
  ])
})

test('bytes that are not UTF-8 are rejected', () => {
  expect(decodeText(Buffer.from('"é😀"'))).toBe('"é😀"')
  expect(() => decodeText(Buffer.from([0xc3]))).toThrow(new JsonError('not valid UTF-8'))
})

test('a text that is not JSON is rejected with the position of its error', () => {
  expect(parseText('{"a":[1]}')).toEqual({ a: [1] })
  expect(() => parseText('[1,]', 10)).toThrow(
    new JsonError('not valid JSON at byte 13, behind "[1,": a value is missing'),
  )
  expect(new NotJson()).toBeInstanceOf(JsonError)
})
