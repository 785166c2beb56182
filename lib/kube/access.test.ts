import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadKubeAccess } from './access.ts'
import type { UnsentOptions } from './credentials.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-access-'))
})

afterEach(() => rm(folder, { recursive: true }))

test.each([
  ['127.0.0.1', '6443', 'https://127.0.0.1:6443'],
  ['fd00::1', undefined, 'https://[fd00::1]:443'],
])('the service account of a pod, with kube-apiserver at %s', async (host, port, origin) => {
  await writeFile(path.join(folder, 'ca.crt'), 'authority')
  await writeFile(path.join(folder, 'token'), 't')
  const env = { TRAINYARD_SERVICE_ACCOUNT_DIR: folder, KUBERNETES_SERVICE_HOST: host }
  const { server, authenticate } = loadKubeAccess(port ? { ...env, KUBERNETES_SERVICE_PORT: port } : env)
  const options: UnsentOptions = { headers: {} }
  await authenticate(options)
  expect(server).toBe(origin)
  expect(options).toEqual({ ca: 'authority', headers: { authorization: 'Bearer t' } })
})

test('without any setting the error names the settings', () => {
  expect(() => loadKubeAccess({})).toThrow('set KUBECONFIG, or TRAINYARD_SERVICE_ACCOUNT_DIR and')
})
