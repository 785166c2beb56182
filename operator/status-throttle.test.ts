import { expect, test } from 'vitest'
import { StatusThrottle } from './status-throttle.ts'

const settle = { settleMs: 500, intervalMs: 0 }
const progress = { settleMs: 0, intervalMs: 5_000 }

function open() {
  const clock = { now: 1_000 }
  return { clock, throttle: new StatusThrottle(() => clock.now) }
}

test('a change waits since it was first noticed, however often it is noticed', () => {
  const { clock, throttle } = open()
  expect(throttle.notice('a', settle)).toBe(500)
  clock.now += 400
  expect([throttle.notice('a', settle), throttle.notice('b', settle)]).toEqual([100, 500])
  clock.now += 100
  expect(throttle.notice('a', settle)).toBe(0)
})

test('a change waits since the last write, and a more urgent one does not', () => {
  const { clock, throttle } = open()
  expect(throttle.notice('a', progress)).toBe(0)
  throttle.settle('a', { isWritten: true })
  clock.now += 1_000
  expect([throttle.notice('a', progress), throttle.notice('a', { settleMs: 0, intervalMs: 0 })]).toEqual([4_000, 0])
})

test('another phase has time of its own', () => {
  const { clock, throttle } = open()
  expect(throttle.notice('a', settle, 'Queued')).toBe(500)
  clock.now += 400
  expect(throttle.notice('a', settle, 'Running')).toBe(500)
  clock.now += 400
  expect(throttle.notice('a', settle, 'Running')).toBe(100)
})

test('a status that has changed back waits again, and a forgotten key is new', () => {
  const { clock, throttle } = open()
  throttle.notice('a', settle)
  clock.now += 400
  throttle.settle('a', { isWritten: false })
  expect([throttle.notice('a', settle), throttle.knows('a')]).toEqual([500, true])
  throttle.forget('a')
  expect(throttle.knows('a')).toBe(false)
})
