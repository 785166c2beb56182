import { expect, test } from 'vitest'
import { truncate } from './truncate.ts'

test.each([
  ['short texts stay unchanged', 'a'.repeat(200), 'a'.repeat(200)],
  ['long texts keep their beginning', 'a'.repeat(201), `${'a'.repeat(200)}…`],
  ['no character is cut in half', 'a'.repeat(199) + '𝒳', `${'a'.repeat(199)}\uFFFD…`],
])('%s', (_, text, expected) => {
  expect(truncate(text)).toBe(expected)
})
