import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startServer, stopServer } from '../lib/http/server.ts'
import { serverSettings } from './server-settings.ts'

test('a server tells its clients for how long they may leave a connection idle, and keeps it for longer', async () => {
  const server = await startServer((_, response) => response.end(), { host: '127.0.0.1', port: 0, ...serverSettings })
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(response.headers.get('keep-alive')).toBe('timeout=10')
  expect(server.keepAliveTimeout + server.keepAliveTimeoutBuffer).toBe(90_000)
  await stopServer(server, { graceMs: 0 })
})

test('a server limits its connections, and the time until the headers of a request have arrived', async () => {
  const server = await startServer(() => {}, { host: '127.0.0.1', port: 0, ...serverSettings })
  expect(server).toMatchObject({ headersTimeout: 20_000, maxConnections: 8_000, requestTimeout: 1_800_000 })
  await stopServer(server, { graceMs: 0 })
})
