import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveApi, type ServedApi } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { useServices } from '../support/services.ts'

const stack = useServices()
const script = 'document.title = "a console"\n'.repeat(20)
const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

const database = useTestDatabase()
let folder: string
let server: ServedApi
let url: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-console-'))
  const assets = path.join(folder, 'assets')
  await mkdir(assets)
  await writeFile(path.join(folder, 'index.html'), '<!doctype html><title>one</title>')
  await writeFile(path.join(assets, 'main-a1.js'), script)
  await writeFile(path.join(assets, 'main-a1.js.br'), brotliCompressSync(script))
  await writeFile(path.join(assets, 'main-a1.js.gz'), gzipSync(script))
  await writeFile(path.join(assets, 'main-a1.css'), 'p { margin: 0 }')
  await writeFile(path.join(assets, 'page.html'), '<script>alert(1)</script>')
  await writeFile(path.join(folder, 'secret.js'), 'nothing')
  server = await serveApi(stack, database.databaseUrl, { TRAINYARD_CONSOLE_FOLDER: folder })
  url = server.url
})
afterAll(async () => {
  await server?.remove()
  await rm(folder, { recursive: true })
})

const get = (target: string, headers: Record<string, string> = html) => fetch(url + target, { headers })

describe('the page', () => {
  test.each([
    '/',
    '/login',
    '/authorize?ref=a',
    '/settings',
    '/admin/cluster',
    '/team/project/runs/1',
    '/team%20a/weave',
    '/%',
    '/a..b',
  ])('is at %s, with a policy that allows only its own files', async (target) => {
    const response = await get(target)
    expect([response.status, await response.text()]).toEqual([200, '<!doctype html><title>one</title>'])
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'")
    expect(policy).not.toContain('unsafe')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      vary: 'Accept',
    })
  })

  test('finds its files from any address', async () => {
    await writeFile(path.join(folder, 'index.html'), '<script src="./assets/main-a1.js"></script>')
    await utimes(path.join(folder, 'index.html'), new Date(), new Date(Date.now() + 2_000))
    for (const target of ['/', '/login', '/team/project/runs/1']) {
      const [, link = ''] = /src="(.+?)"/.exec(await (await get(target)).text()) ?? []
      expect(new URL(link, url + target).href).toBe(`${url}/assets/main-a1.js`)
    }
    await writeFile(path.join(folder, 'index.html'), '<!doctype html><title>one</title>')
  })

  test.each([
    '/v1/models',
    '/v1/preview/nothing',
    '/traces/call/read',
    '/call/read',
    '/files/content',
    '/graphql',
    '/models',
    '/console',
    '/artifactsV2/a',
  ])('is not at %s, where the API answers', async (target) => {
    const response = await get(target)
    expect([response.status >= 400, response.headers.get('content-type')]).toEqual([
      true,
      'application/json; charset=utf-8',
    ])
  })

  test.each(['/docs', '/openapi.json', '/v1/health'])('leaves %s as it is', async (target) => {
    const response = await get(target)
    expect([response.status, await response.text()]).not.toEqual([200, '<!doctype html><title>one</title>'])
    expect(response.status).toBe(200)
  })

  test('is only for those who ask for HTML, with GET', async () => {
    expect((await get('/team/project', { accept: '*/*' })).status).toBe(401)
    expect((await get('/team/project', { accept: 'application/json' })).status).toBe(401)
    expect((await fetch(`${url}/team/project`, { method: 'POST', headers: html })).status).toBe(401)
    const head = await fetch(`${url}/team/project`, { method: 'HEAD', headers: html })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('is not sent again, until the console is built again', async () => {
    const etag = (await get('/')).headers.get('etag')!
    expect((await get('/', { ...html, 'if-none-match': etag })).status).toBe(304)
    const page = path.join(folder, 'index.html')
    await writeFile(page, '<!doctype html><title>two</title>')
    await utimes(page, new Date(), new Date(Date.now() + 5_000))
    const response = await get('/', { ...html, 'if-none-match': etag })
    expect([response.status, await response.text()]).toEqual([200, '<!doctype html><title>two</title>'])
    await writeFile(page, '<!doctype html><title>one</title>')
  })
})

describe('an asset', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('for a client that accepts %s is encoded as %s', async (accepted, encoding) => {
    const response = await get('/assets/main-a1.js', { 'accept-encoding': accepted })
    expect([response.status, await response.text()]).toEqual([200, script])
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
  })

  test('without compressed copies is sent as it is', async () => {
    const response = await get('/assets/main-a1.css', { 'accept-encoding': 'br, gzip' })
    expect([await response.text(), response.headers.get('content-encoding')]).toEqual(['p { margin: 0 }', null])
  })

  test.each([
    'main-b2.js',
    'page.html',
    'main-a1.js.br',
    '..%2Fsecret.js',
    '../secret.js',
    '%2e%2e/secret.js',
    '',
    'constructor',
  ])('%j is none', async (name) => {
    const response = await get(`/assets/${name}`)
    expect(await response.text()).not.toContain('nothing')
    expect([response.status, response.headers.get('cache-control')]).toEqual(
      name.includes('/') ? [200, 'no-cache'] : [404, 'no-store'],
    )
  })
})

test('a server without a built console says how to build it', async () => {
  const other = await serveApi(stack, database.databaseUrl, { TRAINYARD_CONSOLE_FOLDER: path.join(folder, 'none') })
  try {
    const response = await fetch(other.url, { headers: html })
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('npm run build:console')
    expect((await fetch(`${other.url}/assets/main-a1.js`)).status).toBe(404)
  } finally {
    await other.remove()
  }
})

test('a server without the group has no page', async () => {
  const other = await serveApi(stack, database.databaseUrl, {
    TRAINYARD_GROUPS: 'training',
    TRAINYARD_CONSOLE_FOLDER: folder,
  })
  try {
    expect((await fetch(`${other.url}/team`, { headers: html })).status).toBe(401)
  } finally {
    await other.remove()
  }
})
