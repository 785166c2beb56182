import { expect, test } from 'vitest'
import { JsonText, writeJsonText } from './json-text.ts'

test('a text is a part of its source', () => {
  const source = Buffer.from('{"a":[1.0]}')
  const text = new JsonText(source, 5, 10)
  expect([text.toString(), text.first, text.size, text.bytes.buffer === source.buffer]).toEqual(['[1.0]', '[', 5, true])
  expect(new JsonText(source).toString()).toBe('{"a":[1.0]}')
})

test('a value is written without characters that Postgres cannot store', () => {
  expect(writeJsonText({ a: ['\u0000', '\ud800', '😀', 1] }).toString()).toBe(
    String.raw`{"a":["\ufffd","\ufffd","😀",1]}`,
  )
})
