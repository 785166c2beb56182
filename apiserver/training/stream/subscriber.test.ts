import { expect, test } from 'vitest'
import { Subscriber } from './subscriber.ts'

const topics = { entity: true, projects: new Set<string>(), models: new Set<string>(), jobs: new Set<string>() }
const makeSubscriber = () => new Subscriber('team', topics)

test('a client gets what came since it last asked, at once or as soon as there is something', async () => {
  const subscriber = makeSubscriber()
  subscriber.add('a')
  subscriber.add('b')
  expect(await subscriber.take(1_000)).toEqual({ frames: ['a', 'b'], tooSlow: false })
  const next = subscriber.take(60_000)
  subscriber.add('c')
  expect(await next).toEqual({ frames: ['c'], tooSlow: false })
  expect(await subscriber.take(1)).toEqual({ frames: [], tooSlow: false })
})

test('a client that does not read uses a bounded amount of memory, and learns that it has missed something', async () => {
  const subscriber = makeSubscriber()
  for (let count = 0; count < 1_000; count++) subscriber.add('x'.repeat(1_024))
  expect(await subscriber.take(1)).toEqual({ frames: [], tooSlow: true })
  subscriber.add('d')
  expect(await subscriber.take(1)).toEqual({ frames: ['d'], tooSlow: false })
})

test('an ended one waits for nothing', async () => {
  const subscriber = makeSubscriber()
  const waiting = subscriber.take(60_000)
  subscriber.end()
  expect(await waiting).toEqual({ frames: [], tooSlow: false })
  expect([subscriber.isEnded, await subscriber.take(60_000)]).toEqual([true, { frames: [], tooSlow: false }])
})
