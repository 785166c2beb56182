import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StreamSemaphore } from './stream-semaphore.ts'

const most = 6
const share = 2

let streams: StreamSemaphore
beforeEach(() => {
  vi.useFakeTimers()
  streams = new StreamSemaphore(most + 2)
})
afterEach(() => vi.useRealTimers())

/** Acquires a permit without waiting. Undefined when none is free. */
async function takeNow(entity: string): Promise<(() => void) | undefined> {
  let place: (() => void) | undefined
  streams.acquire({ key: entity, weight: 1 }).then(
    (taken) => (place = taken),
    () => {},
  )
  await vi.advanceTimersByTimeAsync(0)
  return place
}

test('each entity has its own share', async () => {
  const places = [await takeNow('team'), await takeNow('team'), await takeNow('team'), await takeNow('others')]
  expect(places.map((place) => place !== undefined)).toEqual([true, true, false, true])
})

test('all entities together leave some connections free', async () => {
  const taken: boolean[] = []
  for (let index = 0; index <= most; index++) taken.push((await takeNow(`team-${index}`)) !== undefined)
  expect(taken).toEqual([...Array.from({ length: most }, () => true), false])
})

test('waiters of an entity get its permits in order, and a permit is released once', async () => {
  const places = [await takeNow('team'), await takeNow('team')]
  const order: string[] = []
  const waiting = ['first', 'second'].map((name) =>
    streams.acquire({ key: 'team', weight: 1 }).then(() => order.push(name)),
  )
  places[0]!()
  places[0]!()
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['first'])
  places[1]!()
  await Promise.all(waiting)
  expect(order).toEqual(['first', 'second'])
})

test('a waiter for its own share does not block others', async () => {
  for (let index = 0; index < share; index++) await takeNow('team')
  void streams.acquire({ key: 'team', weight: 1 }).catch(() => {})
  expect(await takeNow('others')).toBeDefined()
})

test('a wait has a time limit, after which the client must retry', async () => {
  for (let index = 0; index < share; index++) await takeNow('team')
  const refused = expect(streams.acquire({ key: 'team', weight: 1 })).rejects.toMatchObject({
    status: 429,
    headers: { 'Retry-After': '1' },
  })
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  expect(await takeNow('others')).toBeDefined()
})
