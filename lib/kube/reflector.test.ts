import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { FakeApiServer } from '../../test/support/fake-api-server.ts'
import { KubeClient } from './client.ts'
import { Reflector } from './reflector.ts'

interface Thing {
  metadata: { name: string; resourceVersion?: string }
  size: number
}

const path = '/api/v1/namespaces/test/things'
const thing = (name: string, size = 0): Thing & Record<string, unknown> => ({ metadata: { name }, size })
const log = pino({ level: 'silent' })

let server: FakeApiServer
let client: KubeClient
let reflector: Reflector<Thing>
let changes: string[]

beforeEach(async () => {
  server = new FakeApiServer()
  client = new KubeClient(await server.start(), { userAgent: 'test', timeoutMs: 1_000 })
  changes = []
  server.put(path, thing('a'))
  reflector = watchThings()
})

afterEach(async () => {
  await reflector.stop()
  client.close()
  await server.stop()
})

function watchThings(relistMs = 60_000, keyOf?: (object: Thing) => string) {
  const backoff = { baseMs: 10, maxMs: 5_000 }
  const onChange = (object: Thing) => changes.push(object.metadata.name)
  return new Reflector<Thing>({
    client,
    path,
    kind: 'Thing',
    apiVersion: 'v1',
    onChange,
    log,
    relistMs,
    backoff,
    ...(keyOf && { keyOf }),
  })
}

async function startWatching() {
  reflector.start()
  await reflector.synced
  await eventually(() => expect(server.openWatches).toBe(1), 10_000)
}

const names = () => reflector.list().map(({ metadata }) => metadata.name)

test('it lists, then follows added, changed and deleted objects', async () => {
  await startWatching()
  expect(reflector.get('a')).toMatchObject({ kind: 'Thing', apiVersion: 'v1', size: 0 })
  server.put(path, thing('b'))
  server.put(path, thing('a', 2))
  server.remove(path, 'b')
  await eventually(() => expect(changes).toEqual(['a', 'b', 'a', 'b']), 10_000)
  expect(reflector.list()).toMatchObject([{ metadata: { name: 'a' }, size: 2 }])
})

test('a deletion while the watch is down is detected', async () => {
  server.put(path, thing('b'))
  await startWatching()
  changes.length = 0
  server.silently(() => server.remove(path, 'b'))
  // A new list, without a word about b, instead of a watch from the version before.
  server.goneForWatches = true
  server.dropWatches()
  await eventually(() => expect(changes).toEqual(['b']), 10_000)
  expect(names()).toEqual(['a'])
})

test('a watch that gets 410 lists again', async () => {
  server.goneForWatches = true
  reflector.start()
  await reflector.synced
  server.put(path, thing('b'))
  await eventually(() => expect(names()).toEqual(['a', 'b']), 10_000)
  server.goneForWatches = false
  await eventually(() => expect(server.openWatches).toBe(1), 10_000)
})

test('failing and hanging lists are repeated until one is answered', async () => {
  server.failures.push(500, 403)
  server.hanging = true
  reflector.start()
  await eventually(() => expect(server.requests.length).toBeGreaterThan(1), 10_000)
  server.hanging = false
  await reflector.synced
  expect(names()).toEqual(['a'])
  expect(server.failures).toEqual([])
})

test('it lists again after a while, even when its watch is silent', async () => {
  reflector = watchThings(100)
  await startWatching()
  server.silently(() => server.put(path, thing('b')))
  server.forgetChanges()
  server.dropWatches()
  await eventually(() => expect(names()).toEqual(['a', 'b']), 10_000)
})

test('a broken watch goes on from the version that it has reached, and lists nothing again', async () => {
  await startWatching()
  const lists = () => server.requests.filter((request) => request === `GET ${path}`).length
  const listed = lists()
  for (const [name, failure] of [
    ['b', undefined],
    ['c', 'hangs'],
  ] as const) {
    server.silently(() => server.put(path, thing(name)))
    server.hanging = failure !== undefined
    server.dropWatches()
    if (failure) await eventually(() => expect(reflector.trouble).toBeDefined(), 10_000)
    server.hanging = false
    await eventually(() => expect(names()).toContain(name), 10_000)
  }
  expect(lists()).toBe(listed)
  expect(reflector.trouble).toBeUndefined()
})

test('what nobody reads is not kept', async () => {
  server.put(path, { metadata: { name: 'b', managedFields: [{ manager: 'kubectl' }] }, size: 1 })
  await startWatching()
  expect(reflector.get('b')).toEqual({
    kind: 'Thing',
    apiVersion: 'v1',
    metadata: { name: 'b', resourceVersion: expect.any(String) as string },
    size: 1,
  })
})

test('a bookmark is not a change, but resets the age', async () => {
  await startWatching()
  changes.length = 0
  await eventually(() => expect(reflector.ageMs).toBeGreaterThan(400), 10_000)
  server.bookmark(path)
  await eventually(() => expect(reflector.ageMs).toBeLessThan(400), 10_000)
  expect(changes).toEqual([])
})

test('objects are found by their own key, if one is defined', async () => {
  reflector = watchThings(60_000, ({ size }) => `of size ${size}`)
  await startWatching()
  server.put(path, thing('b', 2))
  await eventually(() => expect(reflector.get('of size 2')?.metadata.name).toBe('b'), 10_000)
  server.remove(path, 'b')
  await eventually(() => expect(names()).toEqual(['a']), 10_000)
})
