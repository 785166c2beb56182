import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createOutbound, type Outbound } from './outbound.ts'
import type { Resolve } from './resolve.ts'

const maxBytes = 1000
let server: Server
let origin: string
let answer: (...given: Parameters<RequestListener>) => unknown
let asked: string[]
const opened: Outbound[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  asked = []
})

afterEach(async () => {
  asked = []
  await Promise.all(opened.splice(0).map((outbound) => outbound.close()))
})

afterAll(() => new Promise((resolve) => server.close(resolve)))

/** An Outbound that may request this machine. `names` maps names to addresses. */
function open(names: Record<string, string[]> = {}, privateNetworks = ['127.0.0.0/8']): Outbound {
  const resolve: Resolve = (name, _, done) => {
    const addresses = (names[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    done(null, addresses)
  }
  const outbound = createOutbound({ hosts: ['http://*:*', '*:*'], privateNetworks, resolve })
  opened.push(outbound)
  return outbound
}

const atName = (name: string) => origin.replace('127.0.0.1', name)

describe('fetching', () => {
  test('returns the content', async () => {
    answer = (_, response) => response.end('data')
    const { body, headers } = await open().fetch(`${origin}/a?b=c#d`, { maxBytes })
    expect([await text(body), headers['content-length']]).toEqual(['data', '4'])
    expect(asked).toEqual(['/a?b=c'])
  })

  test('follows redirects, also relative ones', async () => {
    answer = ({ url }, response) => {
      const next: Record<string, string> = { '/1': '/x/2', '/x/2': '3', '/x/3': `${origin}/4?q` }
      if (url === '/4?q') response.end('there')
      else response.writeHead(302, { location: next[url ?? ''] }).end('elsewhere')
    }
    const { body } = await open().fetch(`${origin}/1`, { maxBytes })
    expect(await text(body)).toBe('there')
    expect(asked).toEqual(['/1', '/x/2', '/x/3', '/4?q'])
  })

  test.each([
    ['http://10.0.0.1/', 'network'],
    ['http://169.254.169.254/latest/meta-data/', 'network'],
    ['http://2130706433/', 'spelling'],
    ['https://[::1]/', 'network'],
    ['http://localhost/', 'name'],
    ['file:///etc/passwd', 'scheme'],
    ['https://user:pass@example.com/', 'userinfo'],
    ['//127.0.0.1/a', 'syntax'],
    ['/\\127.0.0.1/a', 'syntax'],
    ['gopher:a', 'syntax'],
    ['http://inside.example/', 'network'],
  ])('rejects a redirect to %s', async (location, rule) => {
    answer = (_, response) => response.writeHead(302, { location }).end()
    const fetched = open({ 'inside.example': ['10.0.0.1'] }).fetch(origin, { maxBytes })
    await expect(fetched).rejects.toMatchObject({ name: 'AddressError', rule })
  })

  test('ends a loop of redirects', async () => {
    answer = (_, response) => response.writeHead(307, { location: '/again' }).end()
    const error = { kind: 'redirects', transient: false }
    await expect(open().fetch(origin, { maxBytes })).rejects.toMatchObject(error)
    expect(asked).toHaveLength(6)
  })

  test.each([
    [404, false],
    [403, false],
    [204, false],
    [304, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])('reports a status %d, which is transient: %s', async (status, transient) => {
    answer = (_, response) => response.writeHead(status).end()
    await expect(open().fetch(origin, { maxBytes })).rejects.toMatchObject({ kind: 'status', status, transient })
  })

  test('reads no more than the limit, announced or not', async () => {
    answer = ({ url }, response) => {
      if (url === '/announced') response.setHeader('content-length', maxBytes + 1)
      for (let sent = 0; sent < maxBytes; sent += 100) response.write('x'.repeat(100))
      response.end(url === '/whole' ? '' : 'y')
    }
    const error = expect.objectContaining({ kind: 'too_large', transient: false })
    await expect(open().fetch(`${origin}/announced`, { maxBytes })).rejects.toEqual(error)
    const { body } = await open().fetch(`${origin}/streamed`, { maxBytes })
    await expect(text(body)).rejects.toEqual(error)
    const whole = await open().fetch(`${origin}/whole`, { maxBytes })
    expect(await text(whole.body)).toHaveLength(maxBytes)
  })

  test('fails if the server aborts, has no TLS or is not running', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': 10 })
      response.write('half', () => response.destroy())
    }
    const error = expect.objectContaining({ kind: 'unreachable', transient: true })
    const { body } = await open().fetch(origin, { maxBytes })
    await expect(text(body)).rejects.toEqual(error)
    await expect(open().fetch(origin.replace('http:', 'https:'), { maxBytes })).rejects.toEqual(error)
    await expect(open().fetch('http://127.0.0.1:1/', { maxBytes })).rejects.toEqual(error)
    await expect(open().fetch('http://nowhere.example/', { maxBytes })).rejects.toEqual(error)
  })

  test('ends with its signal, and when the body is destroyed', async () => {
    answer = (_, response) => void response.write('some')
    const leave = new AbortController()
    const { body } = await open().fetch(origin, { maxBytes, signal: leave.signal })
    leave.abort()
    await expect(text(body)).rejects.toMatchObject({ kind: 'unreachable' })
    const given = await open().fetch(origin, { maxBytes })
    given.body.destroy()
    await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0)
  })

  test('rejects compressed responses', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
    await expect(open().fetch(origin, { maxBytes })).rejects.toMatchObject({ kind: 'encoding', transient: false })
  })
})

describe('a name', () => {
  test.each([
    ['resolves to a public address', ['127.0.0.1'], 'asked'],
    ['resolves to a private address', ['10.0.0.1'], 'refused'],
    ['resolves to the metadata service', ['169.254.169.254'], 'refused'],
    ['resolves to a public address and a private one', ['127.0.0.1', '10.0.0.1'], 'refused'],
    ['resolves to a public address and a private one of IPv6', ['127.0.0.1', 'fe80::1'], 'refused'],
    ['resolves to a mapped address', ['::ffff:127.0.0.1'], 'refused'],
  ])('that %s is %3$s', async (_, addresses, expected) => {
    answer = (__, response) => response.end('data')
    const fetched = open({ 'data.example': addresses }).fetch(atName('data.example'), { maxBytes })
    if (expected === 'asked') expect(await text((await fetched).body)).toBe('data')
    else await expect(fetched).rejects.toMatchObject({ name: 'AddressError', rule: 'network' })
  })

  test('is resolved once, and the connection uses the checked address', async () => {
    answer = (_, response) => response.end('data')
    const answers = ['127.0.0.1', '10.0.0.1']
    const resolve: Resolve = (_, __, done) => done(null, [{ address: answers.shift() ?? '10.0.0.1', family: 4 }])
    const outbound = createOutbound({ hosts: ['http://*:*'], privateNetworks: ['127.0.0.0/8'], resolve })
    opened.push(outbound)
    const { body } = await outbound.fetch(atName('rebinding.example'), { maxBytes })
    expect([await text(body), answers]).toEqual(['data', ['10.0.0.1']])
  })

  test('of this machine is rejected if its networks are not listed', async () => {
    const fetched = open({ 'data.example': ['127.0.0.1'] }, []).fetch(atName('data.example'), { maxBytes })
    await expect(fetched).rejects.toMatchObject({ rule: 'network' })
    expect(asked).toEqual([])
  })
})

test('a POST is sent once, and its redirect is returned', async () => {
  let body = ''
  answer = async (request, response) => {
    body = await text(request)
    response.writeHead(307, { location: '/elsewhere' }).end()
  }
  const given = { method: 'POST' as const, body: '{"a":1}', headers: { 'content-type': 'application/json' } }
  const answered = await open().ask(origin, { ...given, maxBytes, timeoutMs: 5000 })
  await text(answered.body)
  expect([answered.status, body, asked.length]).toEqual([307, '{"a":1}', 1])
})
