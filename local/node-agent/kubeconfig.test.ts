import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readKubeconfig } from './kubeconfig.ts'

let file: string

beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(tmpdir(), 'trainyard-kubeconfig-')), 'config')
})

afterEach(() => rm(path.dirname(file), { recursive: true }))

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
  await writeFile(path.join(path.dirname(file), 'ca.crt'), 'authority')
  expect(readKubeconfig(file)).toEqual({
    server: 'https://127.0.0.1:6443',
    insecure: false,
    ca: 'authority',
    cert: 'cert',
    key: 'key',
    token: 't',
  })
})

test('a file without a usable context is refused', async () => {
  await writeFile(file, config.replace('current-context: here', 'current-context: elsewhere'))
  expect(() => readKubeconfig(file)).toThrow('has no usable current context')
})
