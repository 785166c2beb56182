import { expect, test } from 'vitest'
import { countCrashes, crashDelayMs } from './backoff.ts'

test('after the first crash there is no wait, then the wait doubles up to a minute', () => {
  const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 30].map((crashes) => crashDelayMs(crashes) / 1000)
  expect(seconds).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
})

test('a healthy run starts the count again', () => {
  expect([countCrashes(0, 10), countCrashes(4, 119_000), countCrashes(4, 120_000)]).toEqual([1, 5, 1])
})
