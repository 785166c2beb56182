import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { repeat } from './repeat.ts'

test('work is repeated, also after a failure, one run at a time, until the end', async () => {
  const stop = new AbortController()
  const errors: unknown[] = []
  let [done, running] = [0, 0]
  const work = async () => {
    expect(++running).toBe(1)
    await Promise.resolve()
    running--
    if (++done === 3) stop.abort()
    if (done === 1) throw new Error('first')
  }
  await repeat(work, { pauseMs: () => 1, signal: stop.signal, onError: (error) => errors.push(error) })
  await delay(10)
  expect(done).toBe(3)
  expect(errors).toEqual([new Error('first')])
})

test('the end interrupts a pause, not the work', async () => {
  const stop = new AbortController()
  let done = false
  const work = async () => {
    stop.abort()
    await delay(5)
    done = true
  }
  await repeat(work, { pauseMs: 60_000, signal: stop.signal, onError: () => {} })
  expect(done).toBe(true)
})

test('work that begins with a pause does not run if the end comes first', async () => {
  const stop = new AbortController()
  let done = false
  const work = async () => void (done = true)
  const running = repeat(work, { pauseMs: 60_000, pauseFirst: true, signal: stop.signal, onError: () => {} })
  stop.abort()
  await running
  expect(done).toBe(false)
})
