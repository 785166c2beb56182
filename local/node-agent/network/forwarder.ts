import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A target of connections. */
export interface Backend {
  host: string
  port: number
}

// How long a connection waits for a ready pod, and how often it checks for one.
const holdMs = 10_000
const lookEveryMs = 100

/** Accepts TCP connections at one address and forwards each to a ready backend, round robin. */
export class Forwarder {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #listBackends: () => Backend[]
  #turn = 0
  #isClosed = false

  constructor(listBackends: () => Backend[]) {
    this.#listBackends = listBackends
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => void this.#accept(client))
  }

  /** Starts to listen. Rejects when the address is not available. */
  async listen(host: string, port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen({ host, port }, resolve)
    await promise
  }

  /** Stops listening. Open connections continue. */
  close(): void {
    this.#isClosed = true
    this.#server.close()
  }

  /** Stops listening and ends open connections. */
  destroy(): void {
    this.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #accept(client: Socket): Promise<void> {
    this.#track(client)
    const server = await this.#open(client)
    if (!server) {
      client.destroy()
      return
    }
    this.#track(server)
    join(client, server)
  }

  async #open(client: Socket): Promise<Socket | undefined> {
    const deadline = Date.now() + holdMs
    while (Date.now() < deadline && !client.destroyed && !this.#isClosed) {
      const backends = this.#listBackends()
      this.#turn += 1
      const backend = backends[this.#turn % backends.length]
      const socket = backend && (await dial(backend).catch(() => undefined))
      if (socket) return socket
      await delay(lookEveryMs)
    }
    return undefined
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    // The peer caused a reset. `close` follows it.
    socket.on('error', () => undefined)
  }
}

function dial({ host, port }: Backend): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
  socket.once('error', reject)
  socket.once('connect', () => resolve(socket))
  return promise
}

function join(client: Socket, server: Socket): void {
  client.setNoDelay(true)
  client.pipe(server)
  server.pipe(client)
  client.once('close', () => server.destroy())
  server.once('close', () => client.destroy())
  client.resume()
}
