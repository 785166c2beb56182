import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import Koa from 'koa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, stopServer } from './server.ts'
import { endStalledAnswers } from './stalled-answers.ts'

const stallMs = 200
const size = 64 * 1024 * 1024
const wholeSize = 24 * 1024 * 1024

/** The body of the current download. */
let body: Readable | undefined
let server: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  const app = new Koa()
  app.on('error', () => {})
  app.use(endStalledAnswers({ stallMs, minBytesPerSecond: wholeSize / 2 }))
  app.use(async (ctx) => {
    if (ctx.path === '/later') await delay(3 * stallMs)
    body = ctx.path === '/file' ? Readable.from(download(), { objectMode: false }).on('error', () => {}) : undefined
    ctx.body = body ?? (ctx.path === '/whole' ? Buffer.alloc(wholeSize) : 'here')
  })
  const callback = app.callback()
  server = await startServer((request, response) => void callback(request, response), { host: '127.0.0.1', port: 0 })
})
afterAll(() => stopServer(server, { graceMs: 0 }))

function* download(): Iterable<Buffer> {
  const chunk = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk
}

async function ask(path: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  return socket
}

test('a client that reads nothing is disconnected, and its body is closed', async () => {
  const socket = await ask('/file')
  const before = performance.now()
  socket.pause()
  while (!body?.closed) await delay(10)
  expect(performance.now() - before).toBeGreaterThan(stallMs / 2)
  socket.destroy()
})

test('one that reads slowly gets everything', async () => {
  const socket = await ask('/file')
  let read = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    // Sixteen pauses, which together are longer than the limit.
    if (Math.floor(read / 2 ** 22) < Math.floor((read += chunk.length) / 2 ** 22)) await delay(stallMs / 4)
  }
  expect(read).toBeGreaterThan(size)
})

test('a client whose data is not ready yet stays connected', async () => {
  const socket = await ask('/later')
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString()).toContain('200 OK')
  socket.destroy()
})

test('a complete answer has a deadline, even if the client reads slowly', async () => {
  const socket = await ask('/whole')
  const before = performance.now()
  let read = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    read += chunk.length
    await delay(stallMs / 10)
  }
  expect(read).toBeLessThan(wholeSize)
  // Two seconds for its size, and then the time of a stalled client.
  expect(performance.now() - before).toBeGreaterThan(1_000)
})

test('an answer that is read in time is complete', async () => {
  let read = 0
  for await (const chunk of (await ask('/whole')) as AsyncIterable<Buffer>) read += chunk.length
  expect(read).toBeGreaterThan(wholeSize)
})
