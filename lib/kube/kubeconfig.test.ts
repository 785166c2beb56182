import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { loadKubeAccess } from './access.ts'
import { KubeClient } from './client.ts'
import type { UnsentOptions } from './credentials.ts'
import { readKubeconfig } from './kubeconfig.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-kubeconfig-'))
  file = path.join(folder, 'config')
})

afterEach(() => rm(folder, { recursive: true }))

const config = `
current-context: here
contexts:
- {name: elsewhere, context: {cluster: far, user: far}}
- {name: here, context: {cluster: near, user: me}}
clusters:
- {name: far, cluster: {server: 'https://far'}}
- {name: near, cluster: {server: 'https://127.0.0.1:6443/', certificate-authority: ca.crt}}
users:
- {name: me, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, token: t}}
`

test('the current context, with parts from the file and from its folder', async () => {
  await writeFile(file, config)
  await writeFile(path.join(folder, 'ca.crt'), 'authority')
  const { server, authenticate } = readKubeconfig(file)
  const options: UnsentOptions = { headers: { accept: 'application/json' } }
  await authenticate(options)
  expect(server).toBe('https://127.0.0.1:6443/')
  const headers = { accept: 'application/json', authorization: 'Bearer t' }
  expect(options).toEqual({ ca: 'authority', cert: 'cert', key: 'key', headers })
})

test('a token in a file is read again after ten seconds, because it rotates', async () => {
  await writeFile(file, config.replace('token: t', 'tokenFile: token').replace('certificate-authority: ca.crt', ''))
  const { authenticate } = readKubeconfig(file)
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  for (const [written, afterMs, sent] of [
    ['first', 0, 'first'],
    ['second', 9_000, 'first'],
    ['third', 1_000, 'third'],
  ] as const) {
    await writeFile(path.join(folder, 'token'), `${written}\n`)
    vi.advanceTimersByTime(afterMs)
    const options: UnsentOptions = { headers: {} }
    await authenticate(options)
    expect(options.headers).toEqual({ authorization: `Bearer ${sent}` })
  }
})

test('certificates are not checked if the file says so', async () => {
  await writeFile(file, config.replace('certificate-authority: ca.crt', 'insecure-skip-tls-verify: true'))
  const options: UnsentOptions = { headers: {} }
  await readKubeconfig(file).authenticate(options)
  expect(options).toMatchObject({ rejectUnauthorized: false })
})

test('a file without a usable context is rejected', async () => {
  await writeFile(file, config.replace('current-context: here', 'current-context: elsewhere'))
  expect(() => readKubeconfig(file)).toThrow('has no usable current context')
})

test('a command that returns a token is run', async () => {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers.authorization)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address() as { port: number }
  const apiVersion = 'client.authentication.k8s.io/v1'
  const credential = { apiVersion, kind: 'ExecCredential', status: { token: 'made' } }
  const exec = { apiVersion, command: 'echo', args: [JSON.stringify(credential)], interactiveMode: 'Never' }
  const kubeconfig = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      { name: 'c', cluster: { server: `http://127.0.0.1:${address.port}`, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'u', user: { exec } }],
  }
  await writeFile(file, JSON.stringify(kubeconfig))
  // The first use of such credentials loads the Kubernetes client library. That takes seconds on a loaded machine.
  const client = new KubeClient(loadKubeAccess({ KUBECONFIG: file }), { userAgent: 'test', timeoutMs: 60_000 })
  expect(await client.request({ path: '/' })).toBe('Bearer made')
  client.close()
  server.close()
})
