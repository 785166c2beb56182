import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { FakeApiServer } from '../../../test/support/fake-api-server.ts'
import { createLogger } from '../../../lib/log.ts'
import { createKube } from '../../kube.ts'
import { EnginePods } from './engine-pods.ts'

const collection = '/api/v1/namespaces/test/pods'
const engine = (name: string, { baseModel = 'tiny', ready = 'True', ...metadata } = {}) => ({
  metadata: { name, labels: { 'trainyard.dev/base-model': baseModel }, ...metadata },
  status: { podIP: `10.0.0.${name}`, conditions: [{ type: 'Ready', status: ready }] },
})

let server: FakeApiServer
let folder: string
let pods: EnginePods

beforeEach(async () => {
  server = new FakeApiServer()
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-pods-'))
  const kubeconfig = path.join(folder, 'config')
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: (await server.start()).server } }],
    users: [{ name: 'u', user: {} }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  server.put(collection, engine('1'))
  pods = new EnginePods(
    createKube({ TRAINYARD_NAMESPACE: 'test', KUBECONFIG: kubeconfig }),
    createLogger('test', 'silent'),
  )
  await expectReady('1')
  await eventually(() => expect(server.openWatches).toBe(1), 10_000, 10)
})
afterEach(async () => {
  await pods.stop()
  await server.stop()
  await rm(folder, { recursive: true })
})

const expectReady = (...names: string[]) =>
  eventually(() => expect(pods.listReady('tiny').map(({ name }) => name)).toEqual(names), 10_000, 10)

test('pods that are not Ready, are terminating, have no address, or belong to another base model are not listed', async () => {
  server.put(collection, engine('2', { ready: 'False' }))
  const ending = { ...engine('3'), metadata: { ...engine('3').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  server.put(collection, ending)
  server.put(collection, { ...engine('4'), status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  server.put(collection, engine('5', { baseModel: 'other' }))
  server.put(collection, engine('6'))
  await expectReady('1', '6')
  expect(pods.listReady('other')).toMatchObject([{ name: '5', ip: '10.0.0.5' }])
  expect(pods.listReady('none')).toEqual([])
})

test('listeners are called for each change, and Kubernetes is listed once', async () => {
  let changes = 0
  pods.onChange(() => changes++)
  server.put(collection, engine('1', { ready: 'False' }))
  await expectReady()
  server.put(collection, engine('1'))
  await expectReady('1')
  server.remove(collection, '1')
  await expectReady()
  expect(changes).toBe(3)
  for (let times = 0; times < 100; times++) pods.listReady('tiny')
  expect(server.requests).toEqual([`GET ${collection}`, `WATCH ${collection}`])
})

test('known pods stay listed while Kubernetes is not available, and are updated afterwards', async () => {
  server.failures.push(...Array.from({ length: 3 }, () => 500))
  server.silently(() => server.put(collection, engine('2')))
  server.dropWatches()
  await eventually(() => expect(server.failures).toHaveLength(1), 10_000, 10)
  expect(pods.listReady('tiny')).toHaveLength(1)
  await expectReady('1', '2')
})
