import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AdapterHistory } from './adapter-history.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const nothing = { has: () => false }

test('a pod counts as having an adapter for minutes after its last answer', () => {
  const history = new AdapterHistory(nothing)
  history.record('a', 'one')
  vi.advanceTimersByTime(9 * 60_000)
  expect([history.has('a', 'one'), history.has('a', 'two'), history.has('b', 'one')]).toEqual([true, false, false])
  vi.advanceTimersByTime(2 * 60_000)
  expect(history.has('a', 'one')).toBe(false)
})

test('the oldest entries are dropped when there are too many', () => {
  const history = new AdapterHistory(nothing, 2)
  for (const adapter of ['one', 'two', 'one', 'three']) {
    history.record('a', adapter)
    vi.advanceTimersByTime(1_000)
  }
  expect(['one', 'two', 'three'].filter((adapter) => history.has('a', adapter))).toEqual(['one', 'three'])
})

test('a pod has an adapter that it says it has loaded', () => {
  const history = new AdapterHistory({ has: (pod, adapter) => pod === 'a' && adapter === 'one' })
  expect([history.has('a', 'one'), history.has('a', 'two'), history.has('b', 'one')]).toEqual([true, false, false])
})
