import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { WorkQueue, type Requeue } from './queue.ts'

const log = pino({ level: 'silent' })
let queue: WorkQueue | undefined
afterEach(() => queue?.close())

function open(work: (key: string) => Promise<Requeue | void>, concurrency = 1, backoffMs = 5): WorkQueue {
  queue = new WorkQueue({ name: 'test', log, concurrency, backoff: { baseMs: backoffMs, maxMs: 60_000 }, work })
  return queue
}

/** One gate per piece of work, and the keys in the order in which they started. */
function gated() {
  const seen: string[] = []
  const gates: (() => void)[] = []
  const work = async (key: string) => {
    seen.push(key)
    await new Promise<void>((resolve) => gates.push(resolve))
  }
  return { seen, work, open: () => gates.shift()?.() }
}

test('a waiting key is in the queue once', async () => {
  const { seen, work, open: pass } = gated()
  const keys = open(work)
  for (const key of ['a', 'b', 'b', 'c', 'b']) keys.add(key)
  for (const count of [1, 2, 3]) {
    await eventually(() => expect(seen).toHaveLength(count))
    pass()
  }
  await eventually(() => expect(keys.size).toBe(0))
  expect(seen).toEqual(['a', 'b', 'c'])
})

test('routine checks never stand before other work: it begins although they run, and they come one at a time beside it', async () => {
  const { seen, work, open: pass } = gated()
  const keys = open(work, 2)
  for (const key of ['look-1', 'look-2', 'look-3', 'look-4', 'both']) keys.addRoutinely(key)
  await eventually(() => expect(seen).toEqual(['look-1', 'look-2']))
  for (const key of ['job-1', 'job-2', 'job-3', 'both']) keys.add(key)
  keys.addRoutinely('job-3')
  await eventually(() => expect(seen.slice(2)).toEqual(['job-1', 'job-2']), 1_000, 1)
  expect(keys.depth).toBe(4)
  // Two jobs run: of the looks, one may run beside them.
  pass()
  pass()
  await eventually(() => expect(seen.slice(4)).toEqual(['look-3']), 1_000, 1)
  pass()
  await eventually(() => expect(seen.slice(5)).toEqual(['job-3']), 1_000, 1)
  pass()
  await eventually(() => expect(seen.slice(6)).toEqual(['both']), 1_000, 1)
  pass()
  await eventually(() => expect(seen.slice(7)).toEqual(['look-4']), 1_000, 1)
  for (let left = keys.size; left > 0; left--) pass()
  await eventually(() => expect(keys.size).toBe(0))
  expect(seen).toHaveLength(8)
})

test('routine checks take the whole concurrency while nothing else waits', async () => {
  const { seen, work, open: pass } = gated()
  const keys = open(work, 3)
  for (const key of ['a', 'b', 'c', 'd']) keys.addRoutinely(key)
  await eventually(() => expect(seen).toEqual(['a', 'b', 'c']))
  for (let count = 0; count < 4; count++) {
    await eventually(() => expect(keys.size).toBe(4 - count), 1_000, 1)
    pass()
  }
})

test('a key that is added during its work is handled again, but never twice at the same time', async () => {
  const { seen, work, open: pass } = gated()
  const keys = open(work, 4)
  keys.add('a')
  await eventually(() => expect(seen).toEqual(['a']))
  keys.add('a')
  keys.add('b')
  await eventually(() => expect(seen).toEqual(['a', 'b']))
  pass()
  await eventually(() => expect(seen).toEqual(['a', 'b', 'a']))
  pass()
  pass()
})

test('a failing key is repeated with growing delays and delays no other key', async () => {
  const failedAt: number[] = []
  const done: string[] = []
  const keys = open(
    async (key) => {
      if (key === 'bad' && failedAt.length < 4) {
        failedAt.push(performance.now())
        throw new Error('bad')
      }
      done.push(key)
    },
    1,
    20,
  )
  keys.add('bad')
  keys.add('good')
  await eventually(() => expect(done).toEqual(['good', 'bad']))
  const waits = failedAt.slice(1).map((at, index) => at - failedAt[index]!)
  // A loaded machine makes waits longer. The jitter makes them shorter, by at most a half.
  const shortest = [10, 20, 40]
  expect(waits.map((wait, index) => wait > shortest[index]! - 2)).toEqual([true, true, true])
})

test('a routine check leaves a failing key to its backoff', async () => {
  let calls = 0
  const keys = open(
    async () => {
      calls++
      throw new Error('always')
    },
    1,
    60_000,
  )
  keys.add('a')
  await eventually(() => expect(calls).toBe(1))
  await delay(5)
  keys.addRoutinely('a')
  await delay(5)
  expect(calls).toBe(1)
})

test('a routine check ignores a key that is being handled', async () => {
  const { seen, work, open: pass } = gated()
  const keys = open(work)
  keys.add('a')
  await eventually(() => expect(seen).toHaveLength(1))
  keys.addRoutinely('a')
  pass()
  await eventually(() => expect(keys.size).toBe(0))
  expect(seen).toHaveLength(1)
})

test('work that asks for a repetition runs again after a delay', async () => {
  let calls = 0
  const keys = open(async () => (++calls < 3 ? { afterMs: 1 } : undefined))
  keys.add('a')
  await eventually(() => expect(calls).toBe(3))
})

test('work that asks for a routine check runs beside other work then', async () => {
  const seen: string[] = []
  const keys = open(async (key) => {
    seen.push(key)
    if (key === 'a' && seen.length === 1) return { afterMs: 1, isRoutine: true }
    if (key === 'b') await delay(20)
    return undefined
  })
  for (const key of ['a', 'b', 'c', 'd']) keys.add(key)
  await eventually(() => expect(seen).toEqual(['a', 'b', 'a', 'c', 'd']))
})

test.each([
  ['before', [true, false]],
  ['after', [false, true]],
])('an earlier routine check that was asked for %s other work does not take its place', async (_, asked) => {
  const { seen, work, open: pass } = gated()
  const keys = open(work)
  keys.add('busy')
  for (const isRoutine of asked) keys.addAfter('a', isRoutine ? 1 : 10, { isRoutine })
  await delay(30)
  // A routine check would run beside it.
  expect(seen).toEqual(['busy'])
  pass()
  await eventually(() => expect(seen).toEqual(['busy', 'a']), 1_000, 1)
  pass()
})

test('closing waits for running work and accepts no more keys', async () => {
  const { seen, work, open: pass } = gated()
  const keys = open(work)
  keys.add('a')
  keys.add('b')
  await eventually(() => expect(seen).toEqual(['a']))
  const closed = keys.close()
  keys.add('c')
  pass()
  await closed
  expect(seen).toEqual(['a'])
})

test('a queue counts its work, its failures and how long keys waited', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = (key: string) => (key === 'bad' ? Promise.reject(new Error('bad')) : promise)
  const keys = open(work, 1, 60_000)
  for (const key of ['slow', 'bad']) keys.add(key)
  expect([keys.depth, keys.waits.count, keys.works.count]).toEqual([1, 1, 0])
  resolve()
  await eventually(() => expect([keys.depth, keys.works.count, keys.errorCount]).toEqual([0, 2, 1]), 5_000, 5)
  expect(keys.waits.count).toBe(2)
})
