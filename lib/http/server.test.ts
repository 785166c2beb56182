import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startServer, stopServer } from './server.ts'

/** A server, and a client that has one connection to it. */
async function startPair(handle: RequestListener) {
  const server = await startServer(handle, { host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => {
    agent.destroy()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const send = async (headers: Record<string, string> = {}) => {
    const sent = request({ port, agent, method: 'POST', headers }).end('body')
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { connection: response.headers.connection, body: await text(response), isReused: sent.reusedSocket }
  }
  return { server, send }
}

test('a client that sends requests one after the other meets no closed connection, and learns that it closes', async () => {
  const { server, send } = await startPair((_request, response) => response.end('answer'))
  await send()
  const stopped = stopServer(server, { graceMs: 10_000 })
  await delay(100)
  expect(await send()).toEqual({ connection: 'close', body: 'answer', isReused: true })
  await stopped
})

test('a connection whose response began before the stop takes one more request', async () => {
  const begun = Promise.withResolvers<ServerResponse>()
  const { server, send } = await startPair((_request, response) => {
    response.write('first ')
    begun.resolve(response)
    if (server.listening) return
    response.end()
  })
  const first = send()
  const response = await begun.promise
  const stopped = stopServer(server, { graceMs: 20_000 })
  await delay(1_100)
  response.end('last')
  expect(await first).toMatchObject({ connection: 'keep-alive', body: 'first last' })
  await delay(100)
  expect(await send()).toMatchObject({ connection: 'close', isReused: true })
  await stopped
})

test('a client that waits for leave to send its body learns that the connection closes', async () => {
  const { server, send } = await startPair((_request, response) => response.end('answer'))
  await send()
  const stopped = stopServer(server, { graceMs: 10_000 })
  expect(await send({ expect: '100-continue' })).toMatchObject({ connection: 'close' })
  await stopped
})

test('an idle connection delays the stop by a second at most, and no connection delays it beyond the grace', async () => {
  const idle = await startPair((_request, response) => response.end())
  await idle.send()
  const since = performance.now()
  await stopServer(idle.server, { graceMs: 60_000 })
  expect(performance.now() - since).toBeLessThan(20_000)
  const busy = await startPair(() => {})
  const hanging = busy.send()
  await once(busy.server, 'request')
  await Promise.all([expect(hanging).rejects.toThrow('socket hang up'), stopServer(busy.server, { graceMs: 100 })])
})
