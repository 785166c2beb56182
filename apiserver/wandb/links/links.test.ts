import { createHash, randomBytes } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import type { Pool } from '../../../db/pool.ts'
import { Links } from './links.ts'

const poolOf = (secret: Buffer) => ({ query: async () => ({ rows: [{ secret }] }) }) as unknown as Pool
const links = new Links(poolOf(randomBytes(32)))
const keyDigest = createHash('sha256').update('key').digest('base64url')
const base = 'https://host.example/wandb'
const target = { method: 'PUT', path: '/artifactsV2/uploads/1/a%20b' } as const

async function sign(): Promise<string> {
  const signLink = await links.openSigner(base, keyDigest)
  return signLink(target).slice(base.length)
}

afterEach(() => {
  vi.useRealTimers()
})

test('a link is absolute, and names its key', async () => {
  const signLink = await links.openSigner(base, keyDigest)
  expect(signLink(target)).toMatch(/^https:\/\/host\.example\/wandb\/artifactsV2\/uploads\/1\/a%20b\?expires=\d+&key=/)
  expect(await links.check('PUT', await sign())).toBe(keyDigest)
})

test('a link to read permits HEAD too', async () => {
  const signLink = await links.openSigner('', keyDigest)
  const url = signLink({ method: 'GET', path: '/a' })
  expect([await links.check('GET', url), await links.check('HEAD', url)]).toEqual([keyDigest, keyDigest])
})

test.each<[string, string, (url: string) => string]>([
  ['another method', 'GET', (url) => url],
  ['HEAD for PUT', 'HEAD', (url) => url],
  ['another path', 'PUT', (url) => url.replace('uploads/1', 'uploads/2')],
  ['another spelling of the path', 'PUT', (url) => url.replace('%20', '+')],
  ['another time', 'PUT', (url) => url.replace(/expires=\d/, 'expires=9')],
  ['another key', 'PUT', (url) => url.replace(/key=../, 'key=xx')],
  ['another signature', 'PUT', (url) => url.replace(/signature=../, 'signature=xx')],
  ['a short signature', 'PUT', (url) => url.slice(0, -4)],
  ['no signature', 'PUT', (url) => url.replace(/&signature=.*/, '')],
  ['no claims', 'PUT', () => target.path],
])('a link with %s is rejected', async (_, method, change) => {
  await expect(links.check(method, change(await sign()))).rejects.toThrow(/link has expired, or is for another/)
})

test('a link ends after an hour', async () => {
  const url = await sign()
  vi.useFakeTimers({ now: Date.now() + 59 * 60_000 })
  expect(await links.check('PUT', url)).toBe(keyDigest)
  vi.setSystemTime(Date.now() + 2 * 60_000)
  await expect(links.check('PUT', url)).rejects.toThrow()
})

test('another installation has another secret', async () => {
  const url = await sign()
  await expect(new Links(poolOf(randomBytes(32))).check('PUT', url)).rejects.toThrow()
})
