import { expect, test } from 'vitest'
import { truncate } from './truncate.ts'

test.each([
  ['short texts stay', 'a'.repeat(200), 'a'.repeat(200)],
  ['of long ones the beginning is left', 'a'.repeat(201), `${'a'.repeat(200)}…`],
  ['halves of characters are none', 'a'.repeat(199) + '𝒳', `${'a'.repeat(199)}\uFFFD…`],
])('%s', (_, text, expected) => {
  expect(truncate(text)).toBe(expected)
})
