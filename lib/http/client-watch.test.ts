import { expect, test } from 'vitest'
import { ClientWatch } from './client-watch.ts'

test('what waits for a client to leave is told once, and at once when it has left', () => {
  const watch = new ClientWatch()
  const { signal } = watch
  const told: string[] = []
  watch.whenLeft(() => told.push('first'))
  expect([watch.hasLeft, signal.aborted, told]).toEqual([false, false, []])
  watch.leave()
  watch.leave()
  watch.whenLeft(() => told.push('late'))
  expect([watch.hasLeft, signal.aborted, told]).toEqual([true, true, ['first', 'late']])
})
