import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

test.each([
  ['the first failure', 1, 0, 1_000],
  ['the first failure, with luck', 1, 1, 500],
  ['the fourth', 4, 0, 8_000],
  ['the tenth', 10, 0, 300_000],
  ['one of a day', 300, 0.5, 225_000],
])('after %s', (_, failures, luck, expected) => {
  expect(backoffMs(failures, () => luck)).toBe(expected)
})
