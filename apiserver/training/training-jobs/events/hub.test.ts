import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { EventRow } from '../../../../db/jobs/events.ts'
import { findRequest } from '../../../../lib/request-scope.ts'
import type { Turn } from '../../../../lib/fair-semaphore.ts'
import { EventHub, readLimit } from './hub.ts'

afterEach(() => vi.useRealTimers())

/** A table of events, the queries on it, and a hub. */
function makeHub() {
  const events: Record<string, EventRow[]> = {}
  const asked: string[] = []
  const turns: (Turn | undefined)[] = []
  const fault: { error: Error | undefined; lagMs: number } = { error: undefined, lagMs: 0 }
  const hub = new EventHub(async (jobId, { after, limit }) => {
    asked.push(`${jobId} ${after}`)
    turns.push(findRequest()?.turn)
    if (fault.error) throw fault.error
    if (fault.lagMs > 0) await delay(fault.lagMs)
    return (events[jobId] ?? []).filter(({ seq }) => seq > after).slice(0, limit)
  })
  hub.onConnect()
  const add = (jobId: string, seq: number, type = 'gradient_step') => {
    events[jobId] = [...(events[jobId] ?? []), { id: `${jobId}-${seq}`, seq, type, data: {}, createdAt: new Date(0) }]
    hub.notify(jobId)
  }
  return { hub, asked, turns, fault, add }
}

const outage = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const stays = new AbortController().signal
const follow = (
  hub: EventHub,
  jobId: string,
  options: { after?: number; patient?: boolean; left?: AbortSignal; turn?: Turn } = {},
) => hub.follow({ jobId, turn: { key: 'team', weight: 1 }, after: -1, patient: false, left: stays, ...options })
const seqs = (events: EventRow[]) => events.map(({ seq }) => seq)

describe('a follower', () => {
  test('gets the existing events, then new ones', async () => {
    const { hub, add } = makeHub()
    add('a', 0)
    const follower = follow(hub, 'a')
    expect(seqs(await follower.next(1_000))).toEqual([0])
    const next = follower.next(1_000)
    await delay(5)
    add('a', 1)
    expect(seqs(await next)).toEqual([1])
  })

  test('gets no events when its time is over, and gets the missed ones later', async () => {
    const { hub, add } = makeHub()
    const follower = follow(hub, 'a')
    expect(await follower.next(5)).toEqual([])
    add('a', 0)
    expect(seqs(await follower.next(1_000))).toEqual([0])
  })

  test('gets each event once, even if its time runs out during a query', async () => {
    const { hub, fault, add } = makeHub()
    fault.lagMs = 2
    const follower = follow(hub, 'a')
    const received: number[] = []
    const feed = (async () => {
      for (let seq = 0; seq < 200; seq++) {
        add('a', seq)
        if (seq % 3 === 0) await delay(1)
      }
    })()
    while (received.length < 200) {
      received.push(...seqs(await follower.next(4 * Math.random())))
      // Handles the events, as a stream does. It does not wait for new ones meanwhile.
      await delay(3 * Math.random())
    }
    await feed
    expect(received).toEqual(Array.from({ length: 200 }, (_, seq) => seq))
  })

  test('gets many events in pages', async () => {
    const { hub, add } = makeHub()
    for (let seq = 0; seq < 2.5 * readLimit; seq++) add('a', seq)
    const follower = follow(hub, 'a')
    const sizes = []
    for (let page = 0; page < 3; page++) sizes.push((await follower.next(1_000)).length)
    expect(sizes).toEqual([readLimit, readLimit, 51])
  })

  test('that leaves gets nothing, and causes no more queries', async () => {
    const { hub, asked, add } = makeHub()
    const left = new AbortController()
    const follower = follow(hub, 'a', { left: left.signal })
    const waiting = follower.next(1_000)
    await delay(1)
    left.abort()
    expect(await waiting).toEqual([])
    add('a', 0)
    await delay(1)
    expect({ asked, after: await follower.next(1_000), gone: follower.gone }).toEqual({
      asked: ['a -1'],
      after: [],
      gone: true,
    })
  })
})

describe('the database', () => {
  test('is queried once for all followers at the same position, and not for those without new events', async () => {
    const { hub, asked, add } = makeHub()
    const followers = Array.from({ length: 100 }, () => follow(hub, 'a'))
    const others = Array.from({ length: 100 }, () => follow(hub, 'b'))
    const waits = followers.map((each) => each.next(1_000))
    for (const each of others) void each.next(1_000)
    await delay(20)
    const atFirst = asked.length
    add('a', 0)
    await Promise.all(waits)
    for (const each of followers) void each.next(1_000)
    await delay(20)
    // The first follower of each job has its own query; the others share one.
    expect({ atFirst, later: asked.slice(atFirst) }).toEqual({ atFirst: 4, later: ['a -1'] })
    hub.close()
  })

  test('is queried again for all followers after a reconnection', async () => {
    const { hub, asked } = makeHub()
    const follower = follow(hub, 'a')
    void follower.next(1_000)
    await delay(1)
    hub.onDisconnect()
    await delay(1)
    hub.onConnect()
    await delay(1)
    expect(asked).toEqual(['a -1', 'a -1', 'a -1'])
    hub.close()
  })

  test('is queried in the turn of the entity that follows the job', async () => {
    const { hub, turns } = makeHub()
    const turn = { key: 'other', weight: 3 }
    await Promise.race([follow(hub, 'a', { turn }).next(1_000), delay(20)])
    hub.notify('a')
    await delay(20)
    expect(turns).toEqual([turn, turn])
    hub.close()
  })

  test('that is unavailable is an error for impatient followers; patient ones continue afterwards', async () => {
    vi.useFakeTimers()
    const { hub, fault, add } = makeHub()
    const patient = follow(hub, 'a', { patient: true })
    const impatient = follow(hub, 'a')
    fault.error = outage
    const [stayed, refused] = [patient.next(100_000), expect(impatient.next(100_000)).rejects.toThrow(outage)]
    await vi.advanceTimersByTimeAsync(1_000)
    await refused
    fault.error = undefined
    add('a', 0)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(seqs(await stayed)).toEqual([0])
  })

  test('is not queried constantly by all followers while it is unavailable', async () => {
    vi.useFakeTimers()
    const { hub, asked, fault } = makeHub()
    fault.error = outage
    for (let job = 0; job < 50; job++) void follow(hub, `job-${job}`, { patient: true }).next(100_000)
    await vi.advanceTimersByTimeAsync(500)
    const first = asked.length
    await vi.advanceTimersByTimeAsync(2_000)
    expect(first).toBeLessThanOrEqual(50)
    expect(asked.length - first).toBeLessThanOrEqual(2 * 50)
    hub.close()
  })

  test('whose answer shows a bug ends all waits for that job', async () => {
    const { hub, fault } = makeHub()
    fault.error = new Error('syntax')
    const waits = [follow(hub, 'a', { patient: true }), follow(hub, 'a')].map((each) => each.next(1_000))
    expect((await Promise.allSettled(waits)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

test('at the end of the process all waits end, and later ones at once', async () => {
  const { hub } = makeHub()
  const waits = ['a', 'a', 'b'].map((job) => follow(hub, job).next(100_000))
  hub.close()
  expect(await Promise.all([...waits, follow(hub, 'c').next(100_000)])).toEqual([[], [], [], []])
})
