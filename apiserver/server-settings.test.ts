import { expect, test } from 'vitest'
import { startServer, stopServer } from '../lib/http/server.ts'
import { serverSettings } from './server-settings.ts'

test('a server limits its connections, and the time until the headers of a request have arrived', async () => {
  const server = await startServer(() => {}, { host: '127.0.0.1', port: 0, ...serverSettings })
  expect(server).toMatchObject({ headersTimeout: 20_000, maxConnections: 8_000, requestTimeout: 1_800_000 })
  await stopServer(server, 0)
})
