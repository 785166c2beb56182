import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { limitStrangers, type ConnectionShare } from './connection-shares.ts'
import { ServerConnections } from './server-connections.ts'
import { answerUnreadableRequests } from './unreadable-requests.ts'

const closeIdleEveryMs = 50
// A client that sends requests one after the other sends the next one within this time.
const defaultMinIdleMs = 1_000

/** The address of a server, and its timeouts. See Node's `http.createServer`. */
export interface ServerSettings extends ServerOptions {
  host: string
  port: number
  maxConnections?: number
  share?: ConnectionShare
}

/** Starts a server that answers requests with `handle`. */
export async function startServer(
  handle: RequestListener,
  { host, port, maxConnections, share, ...options }: ServerSettings,
): Promise<Server> {
  const server = createServer(options)
  ServerConnections.follow(server)
  if (share) limitStrangers(server, share)
  answerUnreadableRequests(server)
  server.on('request', handle)
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  // The reader of the body sends "100 Continue", after the key and the announced length were checked.
  server.on('checkContinue', handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  return server
}

interface StopTimes {
  /** How long responses may continue. */
  graceMs: number
  /** How long a connection without a request stays open. */
  minIdleMs?: number
}

/**
 * Accepts no more connections. Each open one closes after its next response, which tells its client so, or when it has been
 * idle for `minIdleMs`: a request that meets the end of its connection fails, and clients do not retry a POST. After
 * `graceMs`, aborts the rest.
 */
export async function stopServer(server: Server, { graceMs, minIdleMs = defaultMinIdleMs }: StopTimes): Promise<void> {
  for (const event of ['request', 'checkContinue']) {
    server.prependListener(
      event,
      (_: unknown, response: ServerResponse) => void response.setHeader('Connection', 'close'),
    )
  }
  // The `close` of HTTP servers closes all idle connections at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  const deadlineMs = performance.now() + graceMs
  while (performance.now() < deadlineMs) {
    ServerConnections.of(server).closeIdle(minIdleMs)
    const done = await Promise.race([closed.then(() => true), delay(closeIdleEveryMs, false)])
    if (done) return
  }
  server.closeAllConnections()
  await closed
}
