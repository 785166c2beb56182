import { expect, test } from 'vitest'
import { outlineJson } from './outline.ts'
import { outlineText } from './outline-text.ts'

test.each([
  '{}',
  '[]',
  '7',
  '"{a:1}"',
  '{"a":1}',
  ' { "a" : [1,{"b":2}] , "c":"}{][,:\\"" , "\\"d" : "\\\\" } ',
  '{"a":"\\\\\\"","b":{"c":[[[]]]}}',
  '{"a":"é","b":"𝄞"}',
  '{"a":"no end',
  '{"a":"no end\\',
  '{'.repeat(500),
  `{${'"a":1,'.repeat(3_000)}"b":2}`,
])('a string of bytes has the outline of the bytes: %j', (text) => {
  const bytes = Buffer.from(text)
  expect(outlineText(bytes.toString('latin1'))).toEqual(outlineJson(bytes))
})
