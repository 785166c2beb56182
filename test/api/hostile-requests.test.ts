import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { keepMs } from '../../apiserver/health/routes.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { listOperations } from '../support/operations.ts'

const own = useApiServer()
let key: string
beforeAll(async () => void (key = await addKey(own.database.pool, 'hostile', 'admin')))

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(own.server.url + path, { headers: { authorization: `Bearer ${key}`, ...headers } })

describe('a browser may not run or embed an answer', () => {
  const closed = {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }

  test.each([
    ['/v1/health', 200],
    ['/openapi.json', 200],
    ['/v1/models', 200],
    ['/v1/nothing', 404],
    ['/traces/nothing', 404],
    ['/docs/nothing', 404],
  ])('%s', async (path, status) => {
    const answer = await get(path)
    expect(answer.status).toBe(status)
    expect(Object.fromEntries(answer.headers)).toMatchObject(closed)
  })

  test('nor an error without a key, nor an answer with one', async () => {
    const refused = await fetch(`${own.server.url}/v1/models`)
    expect(refused.status).toBe(401)
    expect(Object.fromEntries(refused.headers)).toMatchObject(closed)
    const headers = { authorization: `Bearer ${key}` }
    const made = await fetch(`${own.server.url}/v1/preview/keys`, { method: 'POST', headers })
    expect(made.status).toBe(200)
    expect(Object.fromEntries(made.headers)).toMatchObject(closed)
  })

  test.each(['/docs', '/traces/docs'])('except for %s, which runs its own scripts', async (path) => {
    const { headers } = await get(path)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'.*frame-ancestors 'none'$/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })
})

test('a hundred concurrent requests share one system check, and only admins see versions', async () => {
  interface Report {
    checked_at: string
    parts: Record<string, object>
  }
  const read = async (asking: string) => {
    const headers = { authorization: `Bearer ${asking}` }
    return (await (await fetch(`${own.server.url}/v1/system-check`, { headers })).json()) as Report
  }
  const begin = Date.now()
  const reports = await Promise.all(Array.from({ length: 100 }, () => read(key)))
  const most = 1 + Math.floor((Date.now() - begin) / keepMs)
  expect(new Set(reports.map((report) => report.checked_at)).size).toBeLessThanOrEqual(most)
  expect(reports[0]!.parts['postgres']).toEqual({ ok: true, detail: 'answers', version: expect.any(String) as unknown })
  const { parts } = await read(await addKey(own.database.pool, 'hostile', 'read'))
  expect(parts['postgres']).toEqual({ ok: true, detail: 'answers' })
  expect(JSON.stringify(parts)).not.toMatch(/"(version|versions|cause|pod|models)"/)
})

const parts = ['%00', '%zz', '%ff', '..%2f..%2fetc', 'x'.repeat(8_000), '%F0%9F%98%80', '-1', '1e999', '__proto__']

test.each(parts.map((part) => [part.slice(0, 20), part]))(
  '%s instead of any name causes no server error',
  async (_, part) => {
    const operations = await listOperations()
    const paths = operations.filter(({ method, path }) => method === 'get' && path.includes('{'))
    expect(paths.length).toBeGreaterThan(15)
    for (const { path } of paths) {
      const { status } = await get(path.replaceAll(/\{\w+\}/g, part))
      expect({ path, status: status < 500 }).toEqual({ path, status: true })
    }
  },
)

test.each<[string, Record<string, string>]>([
  ['ten thousand ranges', { range: `bytes=${'0-0,'.repeat(3_500)}0-0` }],
  ['thousands of tags', { 'if-none-match': '"a",'.repeat(3_500) }],
  ['thousands of types', { accept: 'a/b;q=0.1,'.repeat(1_400) }],
  ['an invalid event id', { accept: 'text/event-stream', 'last-event-id': 'x'.repeat(8_000) }],
  ['a long key', { authorization: `Bearer ${'x'.repeat(12_000)}` }],
  ['a credential of blanks', { authorization: `Basic ${' '.repeat(12_000)}x` }],
  ['a long project', { 'vendor-project': `${'a/'.repeat(6_000)}b` }],
])('%s in a header take no time', async (_, headers) => {
  const before = performance.now()
  for (const path of ['/v1/models', '/v1/preview/training-jobs/x/events', '/traces/server_info']) {
    expect((await get(path, headers)).status).toBeLessThan(500)
  }
  expect(performance.now() - before).toBeLessThan(5_000)
})

const start = (secret: string) => `POST /v1/preview/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n`
test.each<[string, (secret: string) => string]>([
  ['two lengths', (secret) => `${start(secret)}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`],
  [
    'a length and chunks',
    (secret) => `${start(secret)}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunked as a coding before the last one',
    (secret) => `${start(secret)}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  ],
  ['a name with a blank before its colon', (secret) => `${start(secret)}Content-Length : 2\r\n\r\n{}`],
  ['a line that is folded', (secret) => `${start(secret)}X: a\r\n b\r\nContent-Length: -1\r\n\r\n{}`],
  [
    'a size that is not a number',
    (secret) => `${start(secret)}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`,
  ],
])('a request with %s is rejected, and nothing behind it is read', async (_, write) => {
  const { hostname, port } = new URL(own.server.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`${write(key)}GET /v1/health HTTP/1.1\r\nHost: a\r\n\r\n`)
  let text = ''
  for await (const chunk of socket as AsyncIterable<Buffer>) text += chunk.toString()
  expect(text).toMatch(/^HTTP\/1\.1 4\d\d /)
  expect(text).not.toContain('"ok"')
})
