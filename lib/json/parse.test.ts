import { expect, test } from 'vitest'
import { decodeText, findTextStart, JsonError } from './parse.ts'

test('a text begins after a byte order mark', () => {
  expect([findTextStart(Buffer.from('\uFEFF1')), findTextStart(Buffer.from('1')), findTextStart(Buffer.of())]).toEqual([
    3, 0, 0,
  ])
})

test('bytes that are not UTF-8 are rejected', () => {
  expect(decodeText(Buffer.from('"é😀"'))).toBe('"é😀"')
  expect(() => decodeText(Buffer.from([0xc3]))).toThrow(new JsonError('not valid UTF-8'))
})
