import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf, isListed, readNetworks } from './client-address.ts'
import { ServerConnections } from './server-connections.ts'

export interface ConnectionShare {
  /** How many connections without an authenticated request one client may hold. */
  most: number
  /** Their connections are those of many clients. Addresses, and networks in CIDR form. */
  trustedProxies: readonly string[]
}

/** The connections of the same client without an authenticated request, the oldest first. */
const strangers = new WeakMap<Socket, Set<Socket>>()

/**
 * Limits the connections of each client that has not shown a key. Its next one ends its oldest one without a request. If
 * there is none, the next one ends itself.
 */
export function limitStrangers(server: Server, { most, trustedProxies }: ConnectionShare): void {
  const clients = new Map<string, Set<Socket>>()
  const connections = ServerConnections.of(server)
  const proxies = readNetworks(trustedProxies)
  server.on('connection', (socket) => {
    if (isListed(proxies, socket.remoteAddress ?? '')) return
    const client = clientOf(socket.remoteAddress)
    const held = clients.get(client) ?? new Set()
    clients.set(client, held.add(socket))
    strangers.set(socket, held)
    socket.once('close', () => {
      held.delete(socket)
      if (held.size === 0 && clients.get(client) === held) clients.delete(client)
    })
    if (held.size <= most) return
    const oldest = findIdle(held, connections) ?? socket
    held.delete(oldest)
    oldest.destroy()
  })
}

/** At the limit, each new connection looks for one. So it does not copy them. */
function findIdle(held: ReadonlySet<Socket>, connections: ServerConnections): Socket | undefined {
  for (const socket of held) if (connections.isIdle(socket)) return socket
  return undefined
}

/** A request of this connection was authenticated. */
export function admitConnection(socket: Socket): void {
  strangers.get(socket)?.delete(socket)
}
