import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBake } from './bake.ts'
import { findDigest, isPinned, parseReference, pinBases } from './pin.ts'

const digest = `sha256:${'a'.repeat(64)}`
let address = ''

/** A registry that wants a token, as Docker's does. */
const registry = createServer((request, response) => {
  const { status, headers = {}, body } = answer(request)
  response.writeHead(status, headers).end(body)
})

interface Answer {
  status: number
  headers?: Record<string, string>
  body?: string
}

function answer({ url = '', method, headers }: IncomingMessage): Answer {
  if (url === '/token?service=registry&scope=repository%3Alibrary%2Fnode%3Apull')
    return { status: 200, body: JSON.stringify({ token: 'secret' }) }
  if (!url.startsWith('/v2/library/')) return { status: 404 }
  const [, name] = /^\/v2\/library\/(\w+)\/manifests\/24$/.exec(url) ?? []
  const challenge = `Bearer realm="http://${address}/token",service="registry",scope="repository:library/${name}:pull"`
  if (headers.authorization !== 'Bearer secret') return { status: 401, headers: { 'www-authenticate': challenge } }
  if (method !== 'HEAD' || !headers.accept?.includes('image.index')) return { status: 400 }
  return { status: 200, headers: { 'docker-content-digest': digest } }
}

beforeAll(async () => {
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  address = `127.0.0.1:${(registry.address() as AddressInfo).port}`
})
afterAll(() => void registry.close())

describe('a base is pinned to the digest that a registry has for its tag', () => {
  test('with a token for everybody', async () => {
    expect(await findDigest(`${address}/library/node:24`, { scheme: 'http' })).toBe(digest)
  })

  test.each([
    ['a tag that it does not have', () => `${address}/other/node:24`, 'answers 404'],
    ['a token that it does not give', () => `${address}/library/debian:24`, 'answers 404'],
    ['no registry', () => '127.0.0.1:1/library/node:24', 'does not answer'],
    ['a reference without a registry', () => 'node:24', 'is not REGISTRY/REPOSITORY:TAG'],
  ])('not for %s', async (_, reference, message) => {
    await expect(findDigest(reference(), { scheme: 'http' })).rejects.toThrow(message)
  })
})

test('the name docker.io is that of another host', () => {
  const expected = { registry: 'registry-1.docker.io', repository: 'library/node', tag: '24.1.0-slim' }
  expect(parseReference('docker.io/library/node:24.1.0-slim')).toEqual(expected)
})

test('all bases of the images are pinned, and nothing else changes', async () => {
  const bake = readBake()
  const once = await pinBases(bake, async () => digest)
  const twice = await pinBases(once, async () => `sha256:${'b'.repeat(64)}`)
  const { NODE, DEBIAN, ...others } = twice.variable
  expect([NODE, DEBIAN].map((base) => isPinned(base!.default))).toEqual([true, true])
  expect(NODE!.default).toMatch(/^docker\.io\/library\/node:[\w.-]+@sha256:b{64}$/)
  const { NODE: _node, DEBIAN: _debian, ...before } = bake.variable
  expect({ ...twice, variable: others }).toEqual({ ...bake, variable: before })
})
