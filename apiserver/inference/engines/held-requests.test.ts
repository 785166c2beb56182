import { expect, test } from 'vitest'
import { HeldRequests } from './held-requests.ts'

const isFull = expect.objectContaining({
  status: 503,
  headers: { 'Retry-After': '5' },
  message: expect.stringContaining('and 4 requests wait for one, the maximum of a process.') as string,
}) as Error

/** Holds requests in a queue of four. Returns which were answered with an error, and in which order. */
function openRoom() {
  const held = new HeldRequests(4)
  const ended: unknown[][] = []
  const hold = async (name: string, { weight = 1, isHeld = true, signal = new AbortController().signal } = {}) => {
    const turn = { key: name[0]!, weight }
    const waiting = held.while({ turn, isHeld, queue: held, signal }, (left) => {
      const { promise, reject } = Promise.withResolvers<void>()
      left.addEventListener('abort', () => reject(left.reason))
      return promise
    })
    await waiting.catch((error: unknown) => ended.push([name, error]))
  }
  const start = async (...given: Parameters<typeof hold>) => {
    void hold(...given)
    await settle()
  }
  return { held, start, ended }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('one entity may use the whole queue; other entities replace its newest requests until they have as many', async () => {
  const { start, ended } = openRoom()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'c1', 'd1', 'e1']) await start(name)
  expect(ended).toEqual(['a5', 'a4', 'a3', 'b3', 'a2', 'b2', 'e1'].map((name) => [name, isFull]))
})

test('an entity with three times the weight keeps three times as many requests', async () => {
  const { start, ended } = openRoom()
  for (const name of ['a1', 'a2', 'a3', 'a4']) await start(name, { weight: 3 })
  for (const name of ['b1', 'b2']) await start(name)
  expect(ended).toEqual(['a4', 'b2'].map((name) => [name, isFull]))
})

test('requests that wait for a busy engine do not count, and are not dropped', async () => {
  const { start, ended } = openRoom()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) await start(name, { isHeld: false })
  for (const name of ['b1', 'b2', 'b3', 'b4', 'a7', 'b5']) await start(name)
  expect(ended).toEqual(['b4', 'b5'].map((name) => [name, isFull]))
})

test('when a client leaves, its request no longer counts', async () => {
  const { start, ended } = openRoom()
  const left = new AbortController()
  const reason = new Error('left')
  await start('a1', { signal: left.signal })
  for (const name of ['a2', 'a3', 'a4']) await start(name)
  left.abort(reason)
  await start('a5')
  await start('a6', { signal: left.signal })
  expect(ended).toEqual([
    ['a1', reason],
    ['a6', reason],
  ])
})

test('when the process ends, all waiting requests are answered, and new ones do not wait', async () => {
  const { held, start, ended } = openRoom()
  await start('a1')
  await start('b1', { isHeld: false })
  held.close()
  await settle()
  await start('c1')
  const isEnding = expect.objectContaining({
    status: 503,
    headers: { 'Retry-After': '5' },
    message: expect.stringContaining('shutting down') as string,
  }) as Error
  expect(ended).toEqual(['a1', 'b1', 'c1'].map((name) => [name, isEnding]))
})
