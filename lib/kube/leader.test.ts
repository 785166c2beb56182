import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { FakeApiServer } from '../../test/support/fake-api-server.ts'
import { KubeClient } from './client.ts'
import { LeaderElector } from './leader.ts'
import { leasePath } from './paths.ts'

const leases = leasePath('test')
// Far longer than a loaded machine delays a renewal.
const times = { durationMs: 20_000, renewDeadlineMs: 10_000, retryMs: 30 }

let server: FakeApiServer
let client: KubeClient
let lost: string[]

beforeEach(async () => {
  server = new FakeApiServer()
  client = new KubeClient(await server.start(), { userAgent: 'test', timeoutMs: 400 })
  lost = []
})

afterEach(async () => {
  client.close()
  await server.stop()
})

function elect(identity: string, ownTimes: Partial<typeof times> = {}) {
  const onLost = () => lost.push(identity)
  const log = pino({ level: 'silent' })
  return new LeaderElector({
    client,
    namespace: 'test',
    name: 'lease',
    identity,
    onLost,
    log,
    times: { ...times, ...ownTimes },
  })
}

const holder = () => (server.read(leases, 'lease')?.['spec'] as { holderIdentity: string } | undefined)?.holderIdentity

test('of two, one leads; the other takes over at once when the lease is released', async () => {
  const [first, second] = [elect('first'), elect('second')]
  await first.acquire()
  const takenOver = second.acquire()
  await delay(100)
  expect(holder()).toBe('first')
  await first.release()
  await takenOver
  expect(holder()).toBe('second')
  await second.release()
  expect(lost).toEqual([])
})

test('a leader that stopped renewing is replaced once its record has not changed for its duration', async () => {
  // The holder's clock is an hour ahead, but the times in the record do not matter.
  const renewTime = new Date(Date.now() + 3_600_000).toISOString()
  server.put(leases, {
    metadata: { name: 'lease' },
    spec: { holderIdentity: 'dead', leaseDurationSeconds: 1, renewTime, leaseTransitions: 4 },
  })
  const startedAt = performance.now()
  const elector = elect('heir')
  await elector.acquire()
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  expect(server.read(leases, 'lease')?.['spec']).toMatchObject({ holderIdentity: 'heir', leaseTransitions: 5 })
  await elector.release()
})

test('a restarted pod has its lease again at once', async () => {
  server.put(leases, {
    metadata: { name: 'lease' },
    spec: { holderIdentity: 'pod', leaseDurationSeconds: 3600, leaseTransitions: 0 },
  })
  const elector = elect('pod')
  await elector.acquire()
  await elector.release()
  expect(holder()).toBe('')
})

test.each([
  ['hangs', () => void (server.hanging = true)],
  ['refuses', () => void server.failures.push(...Array.from({ length: 100 }, () => 500))],
])('a leader whose API server %s gives up before others may start', async (_, breakServer) => {
  const durationMs = 4_000
  const elector = elect('cut-off', { durationMs, renewDeadlineMs: 1_000 })
  await elector.acquire()
  const startedAt = performance.now()
  breakServer()
  await eventually(() => expect(lost).toEqual(['cut-off']), durationMs)
  expect(performance.now() - startedAt).toBeLessThan(durationMs)
})

test('one failed renewal does not lose the lease', async () => {
  const elector = elect('steady')
  await elector.acquire()
  server.failures.push(409, 500)
  await eventually(() => expect(server.failures).toEqual([]), 10_000)
  const renewed = server.requests.length
  await eventually(() => expect(server.requests.length).toBeGreaterThan(renewed + 2), 10_000)
  expect(lost).toEqual([])
  await elector.release()
})

test('a lease that another process took is lost at once, before the renewal deadline', async () => {
  const elector = elect('robbed', { renewDeadlineMs: 60_000 })
  await elector.acquire()
  const lease = server.read(leases, 'lease')!
  server.put(leases, { ...lease, spec: { ...(lease['spec'] as object), holderIdentity: 'thief' } })
  await eventually(() => expect(lost).toEqual(['robbed']), 10_000)
})
