import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { connectionsPerStranger } from '../../apiserver/server-settings.ts'
import { addKey, useApiServerProcess } from '../support/api-server.ts'

const proxy = '127.0.0.9'
const own = useApiServerProcess({
  TRAINYARD_TRUSTED_PROXIES: proxy,
})
const tooMany = connectionsPerStranger + 100
const sockets = new Set<Socket>()

afterEach(() => {
  for (const socket of sockets) socket.destroy()
})

async function open(localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(own.server.url)
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  sockets.add(socket)
  socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  await once(socket, 'connect')
  return socket
}

async function openMany(localAddress: string): Promise<void> {
  for (let left = tooMany; left > 0; left -= 100)
    await Promise.all(Array.from({ length: 100 }, () => open(localAddress)))
}

/** Sends a request and returns the status of its response. */
async function ask(socket: Socket, path: string, key = ''): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  return String(answer).slice(9, 12)
}

test('an address without a key holds its share of the connections, and those with a key stay', async () => {
  const key = await addKey(own.database.pool, `team-${randomUUID()}`)
  const known = await open('127.0.0.1')
  expect(await ask(known, '/v1/preview/session', key)).toBe('200')
  const stranger = await open('127.0.0.1')
  expect(await ask(stranger, '/v1/preview/session', 'wrong')).toBe('401')
  await openMany('127.0.0.1')
  await expect.poll(() => sockets.size).toBe(connectionsPerStranger + 1)
  expect([known.destroyed, stranger.destroyed]).toEqual([false, true])
  expect(await ask(known, '/v1/preview/session', key)).toBe('200')
  expect(await ask(await open('127.0.0.2'), '/v1/health')).toBe('200')
})

test('a trusted proxy has as many connections as it opens', async () => {
  await openMany(proxy)
  expect(await ask(await open(proxy), '/v1/health')).toBe('200')
  expect(sockets.size).toBe(tooMany + 1)
})
