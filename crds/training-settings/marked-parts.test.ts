import { expect, test } from 'vitest'
import { replaceMarked } from './marked-parts.ts'

const text = 'a:\n  # BEGIN GENERATED b: from c\n  old: 1\n  # END GENERATED b\nd: 2\n'

test('the text between the marks is replaced, with their indentation', () => {
  const replaced = 'a:\n  # BEGIN GENERATED b: from c\n  new: $1\n\n  newer: 2\n  # END GENERATED b\nd: 2\n'
  expect(replaceMarked(text, 'b', 'new: $1\n\nnewer: 2\n')).toBe(replaced)
})

test('a text without the marks is rejected', () => {
  expect(() => replaceMarked(text, 'x', '')).toThrow('there are no lines "BEGIN GENERATED x" and "END GENERATED x"')
})
