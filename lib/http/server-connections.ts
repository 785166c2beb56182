import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Connection {
  /** Requests without a complete response. */
  requests: number
  idleSinceMs: number
}

const known = new WeakMap<Server, ServerConnections>()

/** The connections of a server, and how long each has been idle. Node closes idle ones all at once, or none. */
export class ServerConnections {
  readonly #connections = new Map<Socket, Connection>()

  /** Follows the connections of a server from its start. */
  static follow(server: Server): void {
    known.set(server, new ServerConnections(server))
  }

  /** @throws if they were not followed */
  static of(server: Server): ServerConnections {
    const connections = known.get(server)
    if (!connections) throw new Error('the connections of this server are not followed')
    return connections
  }

  private constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#connections.set(socket, { requests: 0, idleSinceMs: performance.now() })
      socket.once('close', () => this.#connections.delete(socket))
    })
    const count = ({ socket }: IncomingMessage, response: ServerResponse) => this.#count(socket, response)
    server.on('request', count)
    server.on('checkContinue', count)
  }

  /** Closes the connections that have been idle for this time. */
  closeIdle(minIdleMs: number): void {
    const sinceMs = performance.now() - minIdleMs
    for (const [socket, { requests, idleSinceMs }] of this.#connections) {
      if (requests === 0 && idleSinceMs <= sinceMs) socket.destroy()
    }
  }

  #count(socket: Socket, response: ServerResponse): void {
    const connection = this.#connections.get(socket)
    if (!connection) return
    connection.requests++
    response.once('close', () => {
      connection.requests--
      connection.idleSinceMs = performance.now()
    })
  }
}
