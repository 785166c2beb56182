import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { finalizer } from '../crds/names.ts'
import { customPath } from '../crds/paths.ts'
import { KubeClient } from '../lib/kube/client.ts'
import { FakeApiServer } from '../test/support/fake-api-server.ts'
import { finalize } from './finalize.ts'

const path = customPath('Model', 'ns')
const log = pino({ level: 'silent' })
let server: FakeApiServer
let client: KubeClient

beforeEach(async () => {
  server = new FakeApiServer()
  client = new KubeClient(await server.start(), { userAgent: 'test' })
})

afterEach(async () => {
  client.close()
  await server.stop()
})

/** Finalizes a resource that was deleted this long ago. Its deletion cannot be recorded. */
function finalizeInVain(ageMs: number, finalizers = [finalizer, 'somebody/else']) {
  const deletionTimestamp = new Date(Date.now() - ageMs).toISOString()
  const metadata = { name: 'email', uid: 'u', finalizers, deletionTimestamp }
  server.put(path, { metadata })
  const record = () => Promise.reject(new Error('the database is away'))
  return finalize({ client, namespace: 'ns', log }, { kind: 'Model', resource: { metadata, spec: {} }, record })
}

const finalizers = () => server.read(path, 'email')?.metadata['finalizers']

test('a resource stays until its deletion is recorded', async () => {
  await expect(finalizeInVain(30_000)).rejects.toThrow('the database is away')
  expect(finalizers()).toEqual([finalizer, 'somebody/else'])
})

test('after a minute a resource is released, even if its deletion could not be recorded', async () => {
  await finalizeInVain(61_000)
  expect(finalizers()).toEqual(['somebody/else'])
})

test('a deletion that changes nothing in the database is not asked about', async () => {
  const metadata = { name: 'done', uid: 'u', finalizers: [finalizer], deletionTimestamp: new Date().toISOString() }
  await finalize(
    { client, namespace: 'ns', log },
    { kind: 'Model', resource: { metadata, spec: {} }, record: undefined },
  )
  expect(server.requests).toEqual([`PATCH ${path}/done`])
})

test('a resource that has been released is left to the others', async () => {
  await finalizeInVain(1_000, ['somebody/else'])
  expect(server.requests).toEqual([])
})

test('a resource that something still uses stays, for a minute if nobody can tell', async () => {
  const give = (ageMs: number, isFree: () => Promise<boolean>) => {
    const deletionTimestamp = new Date(Date.now() - ageMs).toISOString()
    const metadata = { name: 'email', uid: 'u', finalizers: [finalizer], deletionTimestamp }
    server.put(path, { metadata })
    const deletion = { kind: 'TrainingJob', resource: { metadata, spec: {} }, record: undefined, isFree } as const
    return finalize({ client, namespace: 'ns', log }, deletion)
  }
  expect(await give(100_000, () => Promise.resolve(false))).toBe(false)
  const fail = () => Promise.reject(new Error('the database is away'))
  await expect(give(30_000, fail)).rejects.toThrow('the database is away')
  expect(server.requests).toEqual([])
  expect(await give(61_000, fail)).toBe(true)
  expect(server.requests).toEqual([`PATCH ${customPath('TrainingJob', 'ns')}/email`])
})
