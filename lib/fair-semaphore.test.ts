import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { FairSemaphore, PermitTimeout } from './fair-semaphore.ts'

/** All requests queue behind one permit. Returns the order in which they got it. */
async function serve(requests: { key: string; weight?: number }[]): Promise<string> {
  const semaphore = new FairSemaphore({ permits: 1 })
  const first = await semaphore.acquire({ key: 'before' })
  const order: string[] = []
  const waits = requests.map((request) => semaphore.run(request, async () => void order.push(request.key)))
  first()
  await Promise.all(waits)
  return order.join('')
}

const times = (count: number, key: string, weight?: number) =>
  Array.from({ length: count }, () => (weight === undefined ? { key } : { key, weight }))

test('keys get permits in turn, even if one of them has queued many requests', async () => {
  expect(await serve([...times(4, 'a'), ...times(2, 'b')])).toBe('ababaa')
})

test('a key with twice the weight gets twice as many permits', async () => {
  const order = await serve([...times(6, 'a'), ...times(6, 'b', 2)])
  expect(order.slice(0, 6).replaceAll('a', '')).toHaveLength(4)
})

test('a key that was idle gets no more permits than keys that waited', async () => {
  const semaphore = new FairSemaphore({ permits: 1 })
  for (let round = 0; round < 50; round++) (await semaphore.acquire({ key: 'a' }))()
  const release = await semaphore.acquire({ key: 'a' })
  const order: string[] = []
  const waits = ['a', 'a', 'b', 'b', 'b'].map((key) => semaphore.run({ key }, async () => void order.push(key)))
  release()
  await Promise.all(waits)
  expect(order.join('')).toBe('babab')
})

test('a key holds at most its share, and the rest is free for others', async () => {
  const semaphore = new FairSemaphore({ permits: 3, permitsPerKey: 2 })
  semaphore.tryAcquire({ key: 'a' })
  const release = semaphore.tryAcquire({ key: 'a' })
  expect(semaphore.tryAcquire({ key: 'a' })).toBeUndefined()
  expect(semaphore.tryAcquire({ key: 'b', maxOfKey: 0 })).toBeUndefined()
  expect(semaphore.tryAcquire({ key: 'b' })).toBeDefined()
  expect(semaphore.tryAcquire({ key: 'c' })).toBeUndefined()
  release!()
  release!()
  expect(semaphore.heldBy('a')).toBe(1)
  expect(semaphore.tryAcquire({ key: 'c' })).toBeDefined()
  expect(semaphore.tryAcquire({ key: 'd' })).toBeUndefined()
})

test('a key that waits for its own share leaves a permit to others', async () => {
  const semaphore = new FairSemaphore({ permits: 2, permitsPerKey: 1 })
  const [a, b] = [await semaphore.acquire({ key: 'a' }), await semaphore.acquire({ key: 'b' })]
  const order: string[] = []
  const waits = ['a', 'c'].map((key) => semaphore.run({ key }, async () => void order.push(key)))
  b()
  await delay(0)
  expect(order).toEqual(['c'])
  a()
  await Promise.all(waits)
  expect(order).toEqual(['c', 'a'])
})

test('a request that holds several permits begins when one is free', async () => {
  const semaphore = new FairSemaphore({ permits: 4 })
  const release = semaphore.tryAcquire({ key: 'a', permits: 3 })!
  const many = semaphore.tryAcquire({ key: 'b', permits: 100 })!
  expect([semaphore.heldBy('a'), semaphore.heldBy('b')]).toEqual([3, 100])
  release()
  expect(semaphore.tryAcquire({ key: 'a' }), 'all are held').toBeUndefined()
  const order: string[] = []
  const waits = ['b', 'b', 'a'].map((key) => semaphore.run({ key }, async () => void order.push(key)))
  await delay(0)
  many()
  await Promise.all(waits)
  expect(order, 'a hundred permits count as a hundred turns').toEqual(['a', 'b', 'b'])
  expect(semaphore.isIdle).toBe(true)
})

describe('with free shares', () => {
  const fill = () => {
    const semaphore = new FairSemaphore({ permits: 0 })
    semaphore.resize(8, 8)
    return { semaphore, release: semaphore.tryAcquire({ key: 'a', permits: 20 })! }
  }

  test('a key gets its share although another one holds all permits', () => {
    const { semaphore } = fill()
    const others = Array.from({ length: 5 }, () => semaphore.tryAcquire({ key: 'b' }))
    expect(others.map((granted) => granted !== undefined)).toEqual([true, true, true, true, false])
    expect(
      semaphore.tryAcquire({ key: 'c', weight: 2 }),
      'half of them: its weight is as large as both others',
    ).toBeDefined()
    expect(semaphore.tryAcquire({ key: 'a' })).toBeUndefined()
  })

  test('a key that waits gets its share when another one leaves', async () => {
    const { semaphore } = fill()
    const third = semaphore.tryAcquire({ key: 'c' })!
    semaphore.tryAcquire({ key: 'b', permits: 2 })
    const waiting = semaphore.acquire({ key: 'b' })
    expect(semaphore.heldBy('b'), 'a third of eight').toBe(2)
    third()
    await waiting
    expect(semaphore.heldBy('b')).toBe(3)
  })

  test('there are shares of the shared permits only', () => {
    const { semaphore } = fill()
    semaphore.resize(20, 2)
    expect(semaphore.tryAcquire({ key: 'b' })).toBeDefined()
    expect(semaphore.tryAcquire({ key: 'b' })).toBeUndefined()
    semaphore.resize(20)
    expect(semaphore.tryAcquire({ key: 'c' })).toBeUndefined()
  })
})

test('waits time out, and failed work releases its permit', async () => {
  const semaphore = new FairSemaphore({ permits: 1 })
  await expect(semaphore.run({ key: 'a' }, () => Promise.reject(new Error('work')))).rejects.toThrow('work')
  const release = await semaphore.acquire({ key: 'a' })
  await expect(semaphore.acquire({ key: 'b', timeoutMs: 1 })).rejects.toBeInstanceOf(PermitTimeout)
  release()
  expect(semaphore.tryAcquire({ key: 'b' })).toBeDefined()
})

test('many waiters are removed as fast as few', async () => {
  const semaphore = new FairSemaphore({ permits: 1 })
  const release = await semaphore.acquire({ key: 'a' })
  // CPU time of this thread only, because the machine may be busy.
  const before = process.threadCpuUsage()
  const waits = Array.from({ length: 30_000 }, () => semaphore.acquire({ key: 'a', timeoutMs: 1 }))
  const outcomes = await Promise.allSettled(waits)
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(1_500)
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  release()
  expect(semaphore.tryAcquire({ key: 'b' })).toBeDefined()
})

test('added permits go to waiters, and removed ones are not granted again', async () => {
  const semaphore = new FairSemaphore({ permits: 0 })
  const order: string[] = []
  const wait = async (key: string) => {
    const release = await semaphore.acquire({ key })
    order.push(key)
    return release
  }
  const [a, b, c] = [wait('a'), wait('b'), wait('c')]
  semaphore.resize(2)
  const [releaseA, releaseB] = await Promise.all([a, b])
  expect(order).toEqual(['a', 'b'])
  semaphore.resize(1)
  releaseA()
  await delay(0)
  expect(order).toEqual(['a', 'b'])
  releaseB()
  ;(await c)()
  expect([order, semaphore.isIdle]).toEqual([['a', 'b', 'c'], true])
})

test('a wait ends with the reason of its signal, and the permit goes to the next', async () => {
  const semaphore = new FairSemaphore({ permits: 1 })
  const release = await semaphore.acquire({ key: 'a' })
  const left = new AbortController()
  const waiting = semaphore.acquire({ key: 'b', signal: left.signal })
  const next = semaphore.acquire({ key: 'c' })
  left.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  await expect(semaphore.acquire({ key: 'd', signal: left.signal })).rejects.toThrow('left')
  release()
  ;(await next)()
  expect(semaphore.isIdle).toBe(true)
})
