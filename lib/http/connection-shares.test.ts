import { once } from 'node:events'
import { request, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { admitConnection } from './connection-shares.ts'
import { startServer } from './server.ts'

const most = 4
const maxConnections = 10
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

async function start(handle: RequestListener = (_, response) => response.end('answer')): Promise<Server> {
  const share = { most, trustedProxies: ['127.0.0.9'] }
  const server = await startServer(handle, {
    host: '127.0.0.1',
    port: 0,
    maxConnections,
    share,
  })
  onTestFinished(() => server.closeAllConnections())
  return server
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** A connection from an address of this machine, and whether the server has ended it. */
async function open(server: Server, localAddress: string, sent = '') {
  const socket = connect({
    port: portOf(server),
    host: '127.0.0.1',
    localAddress,
  })
  const state = { socket, isOpen: true }
  socket.on('error', () => {}).on('close', () => (state.isOpen = false))
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  if (sent === '') return state
  socket.write(sent)
  await once(socket, 'data')
  return state
}

async function openMany(server: Server, count: number, localAddress: string) {
  const opened: { socket: Socket; isOpen: boolean }[] = []
  for (let each = 0; each < count; each++) opened.push(await open(server, localAddress))
  return opened
}

const countOf = (server: Server) =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

test('connections of one client beyond its share end its oldest ones, and others get answers', async () => {
  const server = await start()
  const opened = await openMany(server, 3 * maxConnections, '127.0.0.1')
  await expect.poll(() => countOf(server)).toBe(most)
  expect(opened.slice(-most).map(({ isOpen }) => isOpen)).toEqual(Array(most).fill(true))
  const other = request({
    host: '127.0.0.1',
    port: portOf(server),
    localAddress: '127.0.0.2',
  }).end()
  const [response] = await once(other, 'response')
  expect(await text(response)).toBe('answer')
})

test('a connection with an authenticated request stays, and does not count', async () => {
  const server = await start(({ socket }, response) => (admitConnection(socket), response.end('answer')))
  const known = await open(server, '127.0.0.1', get)
  const opened = await openMany(server, maxConnections, '127.0.0.1')
  await expect.poll(() => opened.filter(({ isOpen }) => isOpen).length).toBe(most)
  expect([known.isOpen, await countOf(server)]).toEqual([true, most + 1])
})

test('a request that waits for its response is not ended, and then the next connection is', async () => {
  const server = await start((_, response) => void response.write('begun'))
  for (let each = 0; each < most; each++) await open(server, '127.0.0.1', get)
  const next = await open(server, '127.0.0.1')
  await expect.poll(() => next.isOpen).toBe(false)
  expect(await countOf(server)).toBe(most)
})

test('a trusted proxy has no share', async () => {
  const server = await start()
  await openMany(server, maxConnections, '127.0.0.9')
  expect(await countOf(server)).toBe(maxConnections)
})
