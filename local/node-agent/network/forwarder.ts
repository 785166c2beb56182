import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Where a connection can go. */
export interface Backend {
  host: string
  port: number
}

// The longest wait of a connection for a ready pod, and the pause between two looks.
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

  /** Starts to listen; rejects when the address is not available. */
  async listen(host: string, port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen({ host, port }, resolve)
    await promise
  }

  /** Stops listening; open connections go on. */
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
    // A reset is the peer's business; `close` follows.
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
