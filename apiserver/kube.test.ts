import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeApiServer } from '../test/support/fake-api-server.ts'
import { createKube } from './kube.ts'

const pods = '/api/v1/namespaces/test/pods'

let server: FakeApiServer
let folder: string
let kubeconfig: string

beforeEach(async () => {
  server = new FakeApiServer()
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-kube-'))
  kubeconfig = path.join(folder, 'config')
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: (await server.start()).server } }],
    users: [{ name: 'u', user: { token: 't' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
})

afterEach(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

test('KUBECONFIG is used if it is set, in a pod too', async () => {
  server.put(pods, {
    metadata: { name: 'engine-0', labels: { a: 'b' } },
    status: { podIP: '10.0.0.7', conditions: [{ type: 'Ready', status: 'True' }] },
  })
  const kube = createKube({
    TRAINYARD_NAMESPACE: 'test',
    KUBECONFIG: kubeconfig,
    TRAINYARD_SERVICE_ACCOUNT_DIR: folder,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: '1',
  })
  expect(await kube.listPods('a=b')).toEqual([{ name: 'engine-0', labels: { a: 'b' }, ip: '10.0.0.7', ready: true }])
})
