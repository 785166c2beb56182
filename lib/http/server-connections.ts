import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Connection {
  /** Those that are not complete. */
  responses: Set<ServerResponse>
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
      this.#connections.set(socket, { responses: new Set(), idleSinceMs: performance.now() })
      socket.once('close', () => this.#connections.delete(socket))
    })
    const add = ({ socket }: IncomingMessage, response: ServerResponse) => this.#add(socket, response)
    server.on('request', add)
    server.on('checkContinue', add)
  }

  /** Closes the connections that have been idle for this time. */
  closeIdle(minIdleMs: number): void {
    const sinceMs = performance.now() - minIdleMs
    for (const [socket, { responses, idleSinceMs }] of this.#connections) {
      if (responses.size === 0 && idleSinceMs <= sinceMs) socket.destroy()
    }
  }

  /** Whether no request waits for its response. */
  isIdle(socket: Socket): boolean {
    return this.#connections.get(socket)?.responses.size === 0
  }

  /** Whether a part of a response was sent, but not all of it. */
  isInResponse(socket: Socket): boolean {
    const responses = this.#connections.get(socket)?.responses ?? []
    return [...responses].some((response) => response.headersSent)
  }

  #add(socket: Socket, response: ServerResponse): void {
    const connection = this.#connections.get(socket)
    if (!connection) return
    connection.responses.add(response)
    response.once('close', () => {
      connection.responses.delete(response)
      connection.idleSinceMs = performance.now()
    })
  }
}
