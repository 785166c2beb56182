import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * When a server dies: in the middle of a request, after its work and before its answer, or when the test says so before
 * the answer.
 */
export type KillMoment = 'sending' | 'answering' | 'held'

/** A TCP way to a server that dies at a chosen request. */
export interface KillingProxy {
  port: number
  /** The next request that contains the marker is the last one that this server sees. */
  arm: (when: KillMoment, marker: string) => void
  /** Kills the server now. */
  die: () => void
  /** How many servers were killed. */
  readonly kills: number
  close: () => Promise<void>
}

interface Target {
  readonly port: number
  /** Ends the server as kill -9 does, and starts the next one. `port` is then that of the next one. */
  replace: () => Promise<void>
}

// The part of a body that has passed before the server dies.
const sentBytes = 1_000_000

/** Opens one on a free port. Clients that come while there is no server wait for the next one. */
export async function openKillingProxy(target: Target): Promise<KillingProxy> {
  const sockets = new Set<Socket>()
  let armed: { when: KillMoment; marker: string } | undefined
  let replacing: Promise<void> = Promise.resolve()
  let kills = 0
  const die = () => {
    armed = undefined
    kills++
    replacing = target.replace()
    // The test sees a server that does not start.
    replacing.catch(() => {})
    for (const socket of sockets) socket.destroy()
  }
  const join = (incoming: Socket, outgoing: Socket) => {
    // A marker may arrive in two pieces.
    let [recent, sent, isLast] = ['', 0, false]
    incoming.on('data', (chunk: Buffer) => {
      sent += chunk.length
      const text = recent + chunk.toString('latin1')
      recent = text.slice(-1_000)
      if (armed && !isLast && text.includes(armed.marker)) [isLast, sent] = [true, 0]
      if (isLast && armed?.when === 'sending' && sent > sentBytes) die()
      else outgoing.write(chunk)
    })
    outgoing.on('data', (chunk: Buffer) => {
      if (isLast && armed?.when === 'answering' && !/^HTTP\/1.1 100/.test(chunk.toString('latin1'))) die()
      else incoming.write(chunk)
    })
    incoming.on('end', () => outgoing.end())
    outgoing.on('end', () => incoming.end())
  }
  const server = createServer({ allowHalfOpen: true }, (incoming) => {
    follow(incoming)
    incoming.pause()
    void replacing.then(() => lead(incoming))
  })
  const lead = (incoming: Socket) => {
    const outgoing = connect(target.port, '127.0.0.1')
    follow(outgoing)
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
    join(incoming, outgoing)
    incoming.resume()
  }
  const follow = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    arm: (when, marker) => (armed = { when, marker }),
    die,
    get kills() {
      return kills
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      await replacing
    },
  }
}
