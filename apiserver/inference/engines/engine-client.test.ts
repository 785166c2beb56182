import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../lib/log.ts'
import { ClientWatch } from '../../../lib/http/client-watch.ts'
import { EngineBody } from './engine-body.ts'
import { EngineClient } from './engine-client.ts'
import { EngineRouter } from './engine-router.ts'
import type { EngineResponse } from './transport.ts'

const [address, otherAddress, goneAddress] = ['127.77.3.1', '127.77.3.2', '127.77.3.3']
let engine: Server
let answer: (request: IncomingMessage, reply: ServerResponse) => unknown
/** Creates a client for the engines at these addresses. */
function createClient(...addresses: string[]): EngineClient {
  const pods = { listReady: () => addresses.map((ip) => ({ name: ip, ip })), onChange: () => {} }
  const router = new EngineRouter(pods, { has: () => false }, { seconds: 5, requests: 10 })
  return new EngineClient(router, ['the key', 'the previous key'], createLogger('test', 'silent'))
}
const client = createClient(address)

beforeAll(async () => {
  engine = createServer((request, reply) => void answer(request, reply)).listen(8000, address)
  await once(engine, 'listening')
})
beforeEach(() => {
  answer = (request, reply) => reply.end(JSON.stringify(request.headers))
})
afterAll(() => {
  client.close()
  engine.close()
})

const post = (body: EngineBody, key = 'acme', by = client) =>
  by.post({
    baseModelCrName: 'tiny',
    turn: { key, weight: 2.5 },
    adapter: undefined,
    sequences: 1,
    affinity: { entity: key, model: 'tiny', prefix: '' },
    path: '/v1/chat/completions',
    body,
    client: new ClientWatch(),
  })

const readText = (response: EngineResponse) => response.body.text()

async function sendOf(key: string): Promise<Record<string, string>> {
  const response = await post(new EngineBody(Buffer.from('{}'), () => {}), key)
  return JSON.parse(await readText(response)) as Record<string, string>
}

test('an engine sees the weight of an entity and whether two requests come from one entity, but not from which', async () => {
  const [one, again, other] = [await sendOf('acme'), await sendOf('acme'), await sendOf('globex')]
  expect(one['x-trainyard-tenant']).toMatch(/^[0-9a-f]{32}$/)
  expect(again['x-trainyard-tenant']).toBe(one['x-trainyard-tenant'])
  expect(other['x-trainyard-tenant']).not.toBe(one['x-trainyard-tenant'])
  expect(one['x-trainyard-weight']).toBe('2.5')
  expect(one['authorization']).toBe('Bearer the key')
})

test('an engine that knows only the previous key gets it, and at once with later requests', async () => {
  const own = createClient(address)
  const keys: string[] = []
  answer = (request, reply) => {
    const { authorization = '' } = request.headers
    keys.push(authorization)
    reply.writeHead(authorization === 'Bearer the previous key' ? 200 : 401).end('{}')
  }
  for (const _ of [1, 2]) {
    const response = await post(new EngineBody(Buffer.from('{}'), () => {}), 'acme', own)
    expect(response.statusCode).toBe(200)
    await readText(response)
  }
  expect(keys).toEqual(['Bearer the key', 'Bearer the previous key', 'Bearer the previous key'])
  answer = (_, reply) => reply.writeHead(401).end('{}')
  const rejected = await post(new EngineBody(Buffer.from('{}'), () => {}), 'acme', own)
  expect(rejected.statusCode).toBe(401)
  own.close()
})

test('a body is released soon after an engine has received it, however long the reply takes', async () => {
  const released = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<Buffer>()
  answer = async (request, reply) => {
    taken.resolve(await buffer(request))
    await released.promise
    reply.end('done')
  }
  const letGo = vi.fn()
  const body = new EngineBody(Buffer.alloc(1_000_000, 'a'), letGo, 100)
  const reply = post(body)
  expect((await taken.promise).equals(Buffer.alloc(1_000_000, 'a'))).toBe(true)
  expect(body.isKept).toBe(true)
  await vi.waitFor(() => expect(letGo).toHaveBeenCalledOnce(), 5_000)
  expect(body.isKept).toBe(false)
  released.resolve()
  expect(await readText(await reply)).toBe('done')
  body.letGo()
  expect(letGo).toHaveBeenCalledOnce()
})

test('a response that is read after its end does not block the next one on its connection', async () => {
  const own = createClient(address)
  answer = async (_, reply) => {
    for (let part = 0; part < 10; part++) {
      reply.write('x')
      await nextTurn()
    }
    reply.end()
  }
  const send = () => post(new EngineBody(Buffer.from('{}'), () => {}), 'acme', own)
  const first = await send()
  await nextTurn()
  const second = send()
  expect(await readText(first)).toBe('x'.repeat(10))
  expect(await readText(await second)).toBe('x'.repeat(10))
  own.close()
})

test('a request is sent again after an early disconnect; a late disconnect is an error', async () => {
  let asked = 0
  answer = async (request, reply) => {
    const body = await buffer(request)
    if (++asked === 1) request.socket.destroy()
    else reply.end(body)
  }
  expect(await readText(await post(new EngineBody(Buffer.from('{"a":1}'), () => {})))).toBe('{"a":1}')
  const late = new EngineBody(Buffer.alloc(200_000, ' '), () => {}, 0)
  answer = async (request) => {
    await buffer(request)
    await vi.waitFor(() => expect(late.isKept).toBe(false), 5_000)
    request.socket.destroy()
  }
  await expect(post(late)).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '2' } })
})

test('a request that makes one engine after another disconnect is not sent to all of them', async () => {
  let asked = 0
  answer = async (request) => {
    await buffer(request)
    asked++
    request.socket.destroy()
  }
  await expect(post(new EngineBody(Buffer.from('{}'), () => {}))).rejects.toMatchObject({ status: 503 })
  expect(asked).toBe(3)
})

test('requests avoid an engine that is gone, and prefer the engine with fewer requests in progress', async () => {
  const other = createServer((request, reply) => void answer(request, reply)).listen(8000, otherAddress)
  await once(other, 'listening')
  const all = createClient(goneAddress, address, otherAddress)
  const held = Promise.withResolvers<void>()
  answer = async (request, reply) => {
    if ((await buffer(request)).toString() === '"long"') await held.promise
    reply.end(request.socket.localAddress)
  }
  const ask = async (sent: string) => {
    const body = new EngineBody(Buffer.from(JSON.stringify(sent)), () => {})
    return readText(await post(body, 'acme', all))
  }
  const long = Array.from({ length: 4 }, () => ask('long'))
  held.resolve()
  expect(new Set(await Promise.all(long))).toEqual(new Set([address, otherAddress]))
  all.close()
  other.close()
})

test('an engine gets as many requests as it says it can run, and an eighth more', async () => {
  const held = Promise.withResolvers<void>()
  let running = 0
  answer = async (request, reply) => {
    running++
    if ((await buffer(request)).toString() === '"long"') await held.promise
    reply.setHeader('x-trainyard-max-requests', '8').end()
  }
  const own = createClient(address)
  const ask = async (sent: string) => {
    await readText(await post(new EngineBody(Buffer.from(JSON.stringify(sent)), () => {}), 'acme', own))
  }
  await ask('short')
  const long = Array.from({ length: 20 }, () => ask('long'))
  await vi.waitFor(() => expect(running).toBe(10), 5_000)
  held.resolve()
  await Promise.all(long)
  expect(running).toBe(21)
  own.close()
})
