import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

const backoff = { baseMs: 1_000, maxMs: 300_000 }

test.each([
  ['the first failure', 1, 0, 1_000],
  ['the first failure, with a small random number', 1, 1, 500],
  ['the fourth', 4, 0, 8_000],
  ['the tenth', 10, 0, 300_000],
  ['so many failures that powers of two overflow', 3_000, 0.5, 225_000],
])('after %s', (_, failures, luck, expected) => {
  expect(backoffMs(failures, backoff, () => luck)).toBe(expected)
})

test('without jitter, the random number does not matter', () => {
  expect(backoffMs(2, { ...backoff, jitter: 0 }, () => 0.7)).toBe(2_000)
})
