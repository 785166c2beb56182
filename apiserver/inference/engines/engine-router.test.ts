import { describe, expect, test } from 'vitest'
import { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { EngineSearch } from './base-model-engines.ts'
import type { EnginePod } from './engine-pods.ts'
import { EngineRouter } from './engine-router.ts'

const pod = (name: string): EnginePod => ({ name, ip: `10.0.0.${name}` })
const settle = () => new Promise((resolve) => setImmediate(resolve))

interface RouterOptions {
  pods?: EnginePod[]
  seconds?: number
  requests?: number
}

/** Creates a router over pods that the test sets. */
function openRouter({ pods = [], seconds = 60, requests = 100 }: RouterOptions = {}) {
  let ready = pods
  const listeners: (() => void)[] = []
  const source = { listReady: () => ready, onChange: (listener: () => void) => void listeners.push(listener) }
  const router = new EngineRouter(source, { has: () => false }, { seconds, requests })
  const setPods = (...next: EnginePod[]) => {
    ready = next
    for (const listener of listeners) listener()
  }
  const search = (more: Partial<EngineSearch> & { entity?: string; weight?: number } = {}): EngineSearch => ({
    turn: { key: more.entity ?? 'acme', weight: more.weight ?? 1 },
    adapter: undefined,
    affinity: { entity: 'acme', model: 'tiny', prefix: '' },
    sequences: 1,
    client: new ClientWatch(),
    failed: new Set(),
    deadlineMs: router.deadlineMs,
    ...more,
  })
  const acquire = (more: Parameters<typeof search>[0] = {}) => router.acquire('tiny', search(more))
  return { router, setPods, acquire, search }
}

describe('while no pod is ready', () => {
  test('a request is held, and is sent as soon as a pod is ready', async () => {
    const { acquire, setPods } = openRouter()
    const waiting = acquire()
    await settle()
    setPods(pod('1'))
    expect((await waiting).pod).toEqual(pod('1'))
  })

  test('a request of another entity is held too, while pods that left still answer', async () => {
    const { acquire, setPods } = openRouter({ pods: [pod('1')], seconds: 0.02 })
    await acquire({ sequences: 8 })
    setPods()
    await expect(acquire({ entity: 'other' })).rejects.toMatchObject({ status: 503 })
  })

  test('a request is held for a limited time', async () => {
    const { acquire } = openRouter({ seconds: 0.02 })
    await expect(acquire()).rejects.toMatchObject({ status: 503, message: expect.stringContaining('became ready') })
  })

  test('a request ends when its client leaves', async () => {
    const { acquire } = openRouter()
    const client = new ClientWatch()
    const waiting = acquire({ client })
    client.leave()
    await expect(waiting).rejects.toThrow('aborted')
  })
})

describe('a base model that is not served any more', () => {
  test('its requests end, those that wait for a full engine too, and those of other base models go on', async () => {
    const { router, acquire, search, setPods } = openRouter({ pods: [pod('1')] })
    ;(await acquire()).recordAnswer(1)
    await acquire()
    const ended = acquire()
    await settle()
    setPods()
    const other = router.acquire('other', search())
    await settle()
    expect(router.listAwaited()).toEqual(['tiny', 'other'])
    router.rejectWaiting('tiny')
    await expect(ended).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '5' } })
    expect(router.listAwaited()).toEqual(['other'])
    setPods(pod('2'))
    expect((await other).pod).toEqual(pod('2'))
    expect(router.listLoads().map(({ held, busy, inFlight }) => [held, busy, inFlight])).toEqual([
      [0, 0, 2],
      [0, 0, 1],
    ])
  })
})

describe('the requests that are reported', () => {
  test('are the most at once since the last look: those that wait and those that are being answered', async () => {
    const { router, acquire, setPods } = openRouter()
    let held = 0
    router.onHeld(() => held++)
    const waiting = [acquire(), acquire()]
    await settle()
    expect([held, router.takePeaks()]).toEqual([2, new Map([['tiny', 2]])])
    setPods(pod('1'))
    const [one, other] = await Promise.all(waiting)
    one!.release()
    other!.release()
    expect(router.takePeaks()).toEqual(new Map([['tiny', 2]]))
    expect(router.takePeaks()).toEqual(new Map())
    const lease = await acquire()
    lease.release()
    expect(router.takePeaks()).toEqual(new Map([['tiny', 1]]))
    expect(held).toBe(2)
  })

  test('contain one that is rejected because no more may be held, so that it starts an engine too', async () => {
    const { router, acquire } = openRouter({ requests: 0 })
    let held = 0
    router.onHeld(() => held++)
    await expect(acquire()).rejects.toMatchObject({ status: 503 })
    expect([held, router.takePeaks()]).toEqual([1, new Map([['tiny', 1]])])
  })
})

describe('a pod that goes away', () => {
  test('gets no more requests, and its requests in progress use no slots of other pods', async () => {
    const { acquire, setPods } = openRouter({ pods: [pod('1')] })
    const old = await acquire()
    old.recordAnswer(1)
    const second = await acquire()
    setPods(pod('2'))
    const third = await acquire()
    third.recordAnswer(1)
    const fourth = await acquire()
    expect([second, third, fourth].map((lease) => lease.pod.name)).toEqual(['1', '2', '2'])
    const fifth = acquire()
    old.release()
    second.release()
    expect(await Promise.race([fifth, settle()])).toBeUndefined()
    third.release()
    expect((await fifth).pod).toEqual(pod('2'))
  })

  test('may be unreachable before Kubernetes says so: other pods get the requests, and the pod itself is tried a little later', async () => {
    const { acquire, setPods } = openRouter({ pods: [pod('1'), pod('2')] })
    const first = await acquire()
    first.recordUnreachable()
    first.release()
    for (let times = 0; times < 20; times++) expect((await acquire()).pod).not.toEqual(first.pod)
    setPods(first.pod)
    const since = performance.now()
    expect((await acquire()).pod).toEqual(first.pod)
    expect(performance.now() - since).toBeGreaterThan(100)
  })

  test('may have cut off a request: another pod gets it, or the same pod if there is no other', async () => {
    const { acquire, setPods } = openRouter({ pods: [pod('1'), pod('2')] })
    const { name } = (await acquire()).pod
    const other = await acquire({ failed: new Set([name]) })
    expect(other.pod.name).not.toBe(name)
    setPods(pod(name))
    expect((await acquire({ failed: new Set([name]) })).pod.name).toBe(name)
  })
})

test('requests for an adapter go to the pod that has answered for it', async () => {
  const { acquire } = openRouter({ pods: [pod('1'), pod('2')] })
  const prefixes = Array.from({ length: 20 }, (_, number) => `${number}`)
  const pick = async (prefix: string, adapter?: string) => {
    const lease = await acquire({ affinity: { entity: 'a', model: 'm', prefix }, adapter })
    lease.recordAnswer(undefined)
    lease.release()
    return lease.pod.name
  }
  const base = await Promise.all(prefixes.map((prefix) => pick(prefix)))
  expect(new Set(base).size).toBe(2)
  const first = await pick(prefixes[0]!, 'checkpoint')
  for (const prefix of prefixes) expect(await pick(prefix, 'checkpoint')).toBe(first)
})

test('requests wait for a full engine, and are served by the weights of their entities', async () => {
  const { acquire } = openRouter({ pods: [pod('1')] })
  const first = await acquire()
  first.recordAnswer(1)
  const second = await acquire()
  const order: string[] = []
  const serve = async (entity: string, weight: number) => {
    const lease = await acquire({ entity, weight })
    order.push(entity)
    lease.release()
  }
  const flood = Array.from({ length: 40 }, () => serve('a', 1))
  const other = Array.from({ length: 6 }, () => serve('b', 3))
  first.release()
  await Promise.all([...flood, ...other])
  second.release()
  expect(order.slice(0, 8).filter((entity) => entity === 'b')).toHaveLength(6)
})

test('requests that are held for a pod are sent by the weights of their entities, not in order of arrival', async () => {
  const { acquire, setPods } = openRouter()
  const order: string[] = []
  const serve = async (entity: string, weight: number) => {
    await acquire({ entity, weight })
    order.push(entity)
  }
  const waiting = [
    ...Array.from({ length: 12 }, () => serve('a', 1)),
    ...Array.from({ length: 6 }, () => serve('b', 3)),
  ]
  await settle()
  setPods(pod('1'))
  await Promise.all(waiting)
  expect(order.slice(0, 8).filter((entity) => entity === 'b')).toHaveLength(6)
})

test('when the process ends, waiting requests are answered, and requests with an engine continue', async () => {
  const { acquire, router, setPods } = openRouter({ pods: [pod('1')] })
  const lease = await acquire()
  setPods()
  const waiting = acquire()
  await settle()
  router.close()
  const isEnding = { status: 503, headers: { 'Retry-After': '5' }, message: expect.stringContaining('shutting down') }
  await expect(waiting).rejects.toMatchObject(isEnding)
  await expect(acquire()).rejects.toMatchObject(isEnding)
  setPods(lease.pod)
  expect((await acquire()).pod).toEqual(lease.pod)
})
