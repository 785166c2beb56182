import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Connections } from './connections.ts'
import type { Connection } from './connection.ts'

let server: Server
let port: number
let sockets: Socket[]
let answer: (socket: Socket) => void
let connections: Connections

beforeEach(async () => {
  sockets = []
  server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  connections = new Connections({ connectMs: 2_000, responseMs: 300 })
})
afterEach(() => {
  connections.close()
  for (const socket of sockets) socket.destroy()
  server.close()
})

/** Sends a request. `done` resolves to the response's body, or fails. */
function ask(body = '') {
  const { promise: done, resolve, reject } = Promise.withResolvers<string>()
  // Kept until the end: later reads must not change them.
  const chunks: Buffer[] = []
  const onSent = vi.fn<() => void>()
  const handler = {
    onHead: () => {},
    onData: (chunk: Buffer) => void chunks.push(chunk),
    onEnd: () => resolve(Buffer.concat(chunks).toString()),
    onError: reject,
  }
  const head = `POST / HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n`
  const connection: Connection = connections.send(
    { host: '127.0.0.1', port },
    { head, body: Buffer.from(body), onSent },
    handler,
  )
  return { done, connection, onSent }
}
const reply = (body: string, more = '') => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`

test('consecutive requests use one connection, and concurrent requests use two', async () => {
  answer = (socket) => socket.write(reply('a'))
  expect([await ask().done, await ask().done]).toEqual(['a', 'a'])
  expect(sockets).toHaveLength(1)
  await Promise.all([ask().done, ask().done])
  expect(sockets).toHaveLength(2)
})

test('what has come stays as it is while other connections read', async () => {
  answer = (socket) => socket.write(reply('aaaa').slice(0, -2))
  const first = ask()
  await vi.waitFor(() => expect(sockets).toHaveLength(1))
  answer = (socket) => socket.write(reply('bbbb'.repeat(100)))
  // The beginning of the first response has been read, probably.
  await delay(20)
  await ask().done
  sockets[0]!.write('cc')
  expect(await first.done).toBe('aacc')
})

test.each([
  ['says that it closes', reply('a', 'connection: close\r\n')],
  ['sends more than a response', `${reply('a')}${reply('b')}`],
])('a connection whose server %s is not used again', async (_, text) => {
  answer = (socket) => socket.write(text)
  await ask().done
  answer = (socket) => socket.write(reply('c'))
  expect(await ask().done).toBe('c')
  expect(sockets).toHaveLength(2)
})

test('a connection is closed if the server sends data without a request', async () => {
  answer = (socket) => socket.write(reply('a'))
  await ask().done
  sockets[0]!.write(reply('another answer'))
  await once(sockets[0]!, 'close')
  expect(await ask().done).toBe('a')
})

test.each([
  ['is reset', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  ['ends before the response', (socket: Socket) => socket.end(), 'CLOSED'],
  ['ends within it', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'), 'CLOSED'],
  ['receives nothing in time', () => {}, 'RESPONSE_TIMEOUT'],
  [
    'receives something that is not a response',
    (socket: Socket) => socket.write('SSH-2.0\r\n\r\n'),
    'MALFORMED_RESPONSE',
  ],
])('a request whose connection %s fails', async (_, fail, code) => {
  answer = fail
  await expect(ask().done).rejects.toMatchObject({ code })
})

test('a request to a closed port fails', async () => {
  server.close()
  await once(server, 'close')
  await expect(ask().done).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test('a paused reader may take longer than the response timeout', async () => {
  answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n${'a'.repeat(10_000_000)}`)
  const { done, connection } = ask()
  connection.pause()
  await delay(500)
  connection.resume()
  expect(await done).toHaveLength(10_000_000)
})

test('a request that is aborted fails at once, and its connection is closed', async () => {
  const asked = Promise.withResolvers<void>()
  answer = () => asked.resolve()
  const { done, connection } = ask()
  await asked.promise
  connection.abort(new Error('enough'))
  await expect(done).rejects.toThrow('enough')
  await once(sockets[0]!, 'close')
})

test('a callback is called when the system has accepted a large body', async () => {
  answer = () => {}
  const { onSent, connection, done } = ask('a'.repeat(1_000_000))
  expect(onSent).not.toHaveBeenCalled()
  await vi.waitFor(() => expect(onSent).toHaveBeenCalledOnce())
  connection.abort(new Error('enough'))
  await expect(done).rejects.toThrow('enough')
})
