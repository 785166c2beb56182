import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeApiServer } from '../../test/support/fake-api-server.ts'
import { KubeClient } from './client.ts'
import { StatusWriter } from './status-writer.ts'

interface Thing {
  metadata: { name: string; namespace: string; uid: string; resourceVersion?: string }
  status?: { phase: string }
}

const path = '/api/v1/namespaces/test/things'
const thing: Thing = { metadata: { name: 'a', namespace: 'test', uid: 'u' } }

let server: FakeApiServer
let client: KubeClient
let writer: StatusWriter<Thing>
let cached: Thing

beforeEach(async () => {
  server = new FakeApiServer()
  client = new KubeClient(await server.start(), { userAgent: 'test' })
  writer = new StatusWriter(client)
  server.put(path, { ...thing })
  cached = await client.request<Thing>({ path: `${path}/a` })
})

afterEach(async () => {
  client.close()
  await server.stop()
})

const read = () => client.request<Thing>({ path: `${path}/a` })

test('a status is compared with the one that was written last, also before the cache has it', async () => {
  expect(await writer.write(`${path}/a`, writer.findLatest(cached), { phase: 'Running' })).toBe(true)
  expect(writer.findLatest(cached).status).toEqual({ phase: 'Running' })
  expect(await writer.write(`${path}/a`, writer.findLatest(cached), { phase: 'Running' })).toBe(false)
})

test('the event of an own write is recognized once, and a later change of others is not', async () => {
  await writer.write(`${path}/a`, cached, { phase: 'Running' })
  const own = await read()
  expect(writer.recognize(cached)).toBe(false)
  expect(writer.recognize(own)).toBe(true)
  expect(writer.recognize(own)).toBe(false)
  await writer.write(`${path}/a`, own, { phase: 'Failed' })
  server.put(path, { ...thing, status: { phase: 'changed by others' } })
  const theirs = await read()
  expect(writer.recognize(theirs)).toBe(false)
  expect(writer.findLatest(theirs).status).toEqual({ phase: 'changed by others' })
})

test('a resource that was made again has none of the status of the earlier one', async () => {
  await writer.write(`${path}/a`, cached, { phase: 'Running' })
  const again = { metadata: { ...cached.metadata, uid: 'other' } }
  expect(writer.findLatest(again).status).toBeUndefined()
})
