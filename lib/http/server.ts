import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const closeIdleEveryMs = 50

/** The address of a server, and its timeouts. See Node's `http.createServer`. */
export interface ServerSettings extends ServerOptions {
  host: string
  port: number
  maxConnections?: number
}

/** Starts a server that answers requests with `handle`. */
export async function startServer(
  handle: RequestListener,
  { host, port, maxConnections, ...options }: ServerSettings,
): Promise<Server> {
  const server = createServer(options, handle)
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  // Otherwise, full processes on a shared port would pass a connection to each other forever. (@types/node 24 lacks
  // this member.)
  Object.assign(server, { dropMaxConnection: true })
  // The reader of the body sends "100 Continue", after the key and the announced length were checked.
  server.on('checkContinue', handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  return server
}

/**
 * Accepts no more connections and closes idle ones. Each open connection closes after its current request. After
 * `graceMs`, aborts the rest.
 */
export async function stopServer(server: Server, graceMs: number): Promise<void> {
  server.prependListener('request', (_request, response) => void response.setHeader('Connection', 'close'))
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const deadlineMs = performance.now() + graceMs
  while (performance.now() < deadlineMs) {
    server.closeIdleConnections()
    const done = await Promise.race([closed.then(() => true), delay(closeIdleEveryMs, false)])
    if (done) return
  }
  server.closeAllConnections()
  await closed
}
