import { expect, test } from 'vitest'
import { restartDelayMs } from './backoff.ts'

test.each([
  ['the first failure', [100], 250],
  ['the third failure in a row', [100, 100, 100], 1_000],
  ['many failures', Array.from({ length: 20 }, () => 100), 5_000],
  ['a failure after a long run', [100, 100, 60_000], 250],
  ['the second failure after a long run', [60_000, 100, 100], 500],
])('%s', (_, runsMs, delayMs) => {
  expect(restartDelayMs(runsMs)).toBe(delayMs)
})
