import { expect, test } from 'vitest'
import { StatusPacer } from './status-pacer.ts'

const settle = { settleMs: 500, everyMs: 0 }
const progress = { settleMs: 0, everyMs: 5_000 }

function open() {
  const clock = { now: 1_000 }
  return { clock, pacer: new StatusPacer(() => clock.now) }
}

test('a change waits since it was first noticed, however often it is noticed', () => {
  const { clock, pacer } = open()
  expect(pacer.notice('a', settle)).toBe(500)
  clock.now += 400
  expect([pacer.notice('a', settle), pacer.notice('b', settle)]).toEqual([100, 500])
  clock.now += 100
  expect(pacer.notice('a', settle)).toBe(0)
})

test('a change waits since the last write, and a more urgent one does not', () => {
  const { clock, pacer } = open()
  expect(pacer.notice('a', progress)).toBe(0)
  pacer.settle('a', { isWritten: true })
  clock.now += 1_000
  expect([pacer.notice('a', progress), pacer.notice('a', { settleMs: 0, everyMs: 0 })]).toEqual([4_000, 0])
})

test('another phase has time of its own', () => {
  const { clock, pacer } = open()
  expect(pacer.notice('a', settle, 'Queued')).toBe(500)
  clock.now += 400
  expect(pacer.notice('a', settle, 'Running')).toBe(500)
  clock.now += 400
  expect(pacer.notice('a', settle, 'Running')).toBe(100)
})

test('a status that has changed back waits again, and a forgotten key is new', () => {
  const { clock, pacer } = open()
  pacer.notice('a', settle)
  clock.now += 400
  pacer.settle('a', { isWritten: false })
  expect([pacer.notice('a', settle), pacer.knows('a')]).toEqual([500, true])
  pacer.forget('a')
  expect(pacer.knows('a')).toBe(false)
})
