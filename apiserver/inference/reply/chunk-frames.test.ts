import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Exchange } from '../../../lib/http/exchange.ts'
import { ChunkFrames } from './chunk-frames.ts'
import { Splice } from './splice.ts'

let server: Server
let client: Socket
let received: string
/** What the server does with each request, in their order. */
let answer: (frames: ChunkFrames, exchange: Exchange) => void
const onDrain = vi.fn<() => void>()

const lines = (text: string) => new Splice(Buffer.from(text))
const get = (path: string, version = '1.1') => `GET ${path} HTTP/${version}\r\nHost: x\r\n\r\n`
const countOf = (text: string) => received.split(text).length - 1

beforeEach(async () => {
  received = ''
  onDrain.mockClear()
  server = createServer((req, res) => {
    const exchange = new Exchange(req, res, req.url!)
    exchange.writeHead(200, { 'Content-Type': 'text/event-stream' })
    answer(new ChunkFrames(exchange, onDrain), exchange)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('data', (chunk: Buffer) => (received += chunk.toString()))
})
afterEach(() => {
  client.destroy()
  server.close()
})

test('each write is a chunk, and the last one ends the response', async () => {
  answer = (frames) => {
    frames.write(lines('data: a\n\n'))
    frames.write(lines(''))
    frames.write(lines('0123456789abcdefg'))
    frames.end()
  }
  client.write(get('/'))
  await vi.waitFor(() => expect(received).toContain('\r\n0\r\n\r\n'))
  expect(received.slice(received.indexOf('\r\n\r\n') + 4)).toBe(
    '9\r\ndata: a\n\n\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n',
  )
})

test('a client of HTTP/1.0 gets the bytes without frames', async () => {
  answer = (frames) => {
    frames.write(lines('data: a\n\n'))
    frames.end()
  }
  client.write(get('/', '1.0'))
  await once(client, 'end')
  expect(received).toMatch(/\r\n\r\ndata: a\n\n$/)
})

test('a response that waits for an earlier one on its connection comes after it, whole', async () => {
  const waiting: (() => void)[] = []
  answer = (frames, { path }) => {
    frames.write(lines(`begin ${path}\n`))
    waiting.push(() => {
      frames.write(lines(`end ${path}\n`))
      frames.end()
    })
  }
  client.write(get('/one') + get('/two'))
  await vi.waitFor(() => expect(waiting).toHaveLength(2))
  waiting[1]!()
  await delay(20)
  expect(received).not.toContain('two')
  waiting[0]!()
  await vi.waitFor(() => expect(countOf('\r\n0\r\n\r\n')).toBe(2))
  expect([...received.matchAll(/(begin|end) \/\w+/g)].map(([found]) => found)).toEqual([
    'begin /one',
    'end /one',
    'begin /two',
    'end /two',
  ])
})

test('a connection keeps no listeners of the responses before', async () => {
  const counts: number[] = []
  answer = (frames, { res }) => {
    counts.push(res.socket!.listenerCount('drain'))
    frames.write(lines('x'))
    frames.end()
  }
  for (let index = 1; index <= 5; index++) {
    client.write(get('/'))
    await vi.waitFor(() => expect(countOf('\r\n0\r\n\r\n')).toBe(index))
  }
  expect(new Set(counts).size).toBe(1)
})

test('a client that does not read is waited for', async () => {
  const isTaken = Promise.withResolvers<boolean>()
  answer = (frames) => isTaken.resolve(frames.write(lines('x'.repeat(20_000_000))))
  client.pause()
  client.write(get('/'))
  expect(await isTaken.promise).toBe(false)
  expect(onDrain).not.toHaveBeenCalled()
  client.resume()
  await vi.waitFor(() => expect(onDrain).toHaveBeenCalled(), 5_000)
})
