import { expect, test } from 'vitest'
import { ClientWatch } from './client-watch.ts'

test('a callback is called once when the client leaves, and at once if it has left', () => {
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
