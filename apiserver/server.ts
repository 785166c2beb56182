import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type Koa from 'koa'
import { memoryPlan } from './accounts/limits/memory-plan.ts'

// Longer than clients keep an idle connection, so that a POST never meets one that is being closed: they don't retry it.
const keepAliveMs = 90_000
// An upload of the largest body over a slow line.
const requestTimeoutMs = 1_800_000

// The lines of a request before its body come at once; whoever lets them trickle in only holds a connection.
const headersTimeoutMs = 20_000
const checkConnectionsMs = 5_000

const settings = {
  keepAliveTimeout: keepAliveMs,
  requestTimeout: requestTimeoutMs,
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: checkConnectionsMs,
}

/** Listens with an app. */
export async function startServer(app: Koa, host: string, port: number): Promise<Server> {
  const callback = app.callback()
  const handle = (request: IncomingMessage, response: ServerResponse) => void callback(request, response)
  const server = createServer(settings, handle)
  server.maxConnections = memoryPlan.connections.most
  // The body's reader says "100 Continue", after the key and the announced length were looked at.
  server.on('checkContinue', handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  return server
}

/** Takes no more connections, lets running answers end within the time, then breaks off the rest. */
export async function stopServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const deadlineMs = performance.now() + graceMs
  while (performance.now() < deadlineMs) {
    server.closeIdleConnections()
    const done = await Promise.race([closed.then(() => true), delay(100, false)])
    if (done) return
  }
  server.closeAllConnections()
  await closed
}
