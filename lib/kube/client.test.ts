import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { FakeApiServer } from '../../test/support/fake-api-server.ts'
import { createObject, deleteObject, mergePatch, patchStatus, readObject } from './apply.ts'
import { KubeClient } from './client.ts'
import type { KubeAccess } from './credentials.ts'

const path = '/api/v1/namespaces/test/things'
const thing = { metadata: { name: 'a', uid: 'u' } }

let server: FakeApiServer
let access: KubeAccess
let client: KubeClient

beforeEach(async () => {
  server = new FakeApiServer()
  access = await server.start()
  client = new KubeClient(access, { userAgent: 'test' })
})

afterEach(async () => {
  client.close()
  await server.stop()
})

test('a request that is not answered ends after its time limit', async () => {
  server.hanging = true
  const impatient = new KubeClient(access, { userAgent: 'test', timeoutMs: 50 })
  onTestFinished(() => impatient.close())
  await expect(impatient.request({ path })).rejects.toMatchObject({
    message: `GET ${path}: no answer`,
    cause: { name: 'TimeoutError' },
  })
})

test('an error names the request and the answer of the server', async () => {
  server.failures.push(403)
  await expect(client.request({ path })).rejects.toThrow(`GET ${path}: 403 switched on`)
})

test('creating an existing object is not an error', async () => {
  expect([await createObject(client, path, thing), await createObject(client, path, thing)]).toEqual([true, false])
})

test('deleting a missing object is a success', async () => {
  server.put(path, thing)
  await deleteObject(client, `${path}/a`, 'u')
  await deleteObject(client, `${path}/a`, 'u')
  expect(await readObject(client, `${path}/a`)).toBeUndefined()
})

test('a connection serves further requests after a DELETE with a body', async () => {
  server.put(path, thing)
  await deleteObject(client, `${path}/a`, 'u')
  expect(await createObject(client, path, thing)).toBe(true)
})

test('a status is written only when it differs', async () => {
  const seen = { ...thing, status: { phase: 'Running' } }
  expect(await patchStatus(client, `${path}/a`, seen, { phase: 'Running' })).toBeUndefined()
  expect(server.requests).toEqual([])
  expect(await patchStatus(client, `${path}/a`, seen, { phase: 'Failed' })).toBeDefined()
  expect(server.requests).toEqual([`PATCH ${path}/a/status`])
})

test('a merge patch has the field manager', async () => {
  server.put(path, thing)
  await mergePatch(client, `${path}/a`, { size: 2 })
  expect(server.read(path, 'a')).toMatchObject({ ...thing, size: 2 })
  expect(server.lastHeaders).toMatchObject({ 'user-agent': 'test', 'content-type': 'application/merge-patch+json' })
})

test('a missing kind is not a missing object', async () => {
  server.failures.push(404)
  await expect(readObject(client, `${path}/a`)).rejects.toThrow('404')
})
