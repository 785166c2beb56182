import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeSmall } from './write-small.ts'

const head = 'POST / HTTP/1.1\r\n\r\n'
let server: Server

beforeEach(async () => {
  server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => void server.close())

async function open(): Promise<{ socket: Socket; peer: Socket }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [peer] = (await once(server, 'connection')) as [Socket]
  if (socket.connecting) await once(socket, 'connect')
  return { socket, peer }
}

async function readAll(peer: Socket): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of peer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test('requests that their server does not read yet stay as they are while others are written', async () => {
  const [slow, other] = [await open(), await open()]
  const body = Buffer.alloc(15_000, 'a')
  let count = 0
  while (slow.socket.writableLength === 0) {
    expect(writeSmall(slow.socket, head, body)).toBe(true)
    count++
  }
  writeSmall(other.socket, head, Buffer.alloc(15_000, 'b'))
  slow.socket.end()
  other.socket.end()
  // A comparison of two texts of megabytes would print both.
  expect((await readAll(slow.peer)) === (head + 'a'.repeat(15_000)).repeat(count)).toBe(true)
  expect(await readAll(other.peer)).toBe(head + 'b'.repeat(15_000))
})

test.each([
  ['a larger request', 17_000],
  ['a request with a large head', 16 * 1024 - head.length + 1],
])('%s is left to its caller', async (_, bytes) => {
  const { socket, peer } = await open()
  expect(writeSmall(socket, head, Buffer.alloc(bytes))).toBe(false)
  socket.end()
  expect(await readAll(peer)).toBe('')
})

test('a socket that is not connected yet would keep the buffer, so it is left to its caller', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  expect(writeSmall(socket, head, Buffer.alloc(1))).toBe(false)
  socket.destroy()
  await once(socket, 'close')
})
