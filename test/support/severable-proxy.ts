import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy that a test can cut. Open connections break, and new ones fail until it is repaired. */
export interface SeverableProxy {
  port: number
  cut: () => void
  mend: () => void
  close: () => Promise<void>
}

/** Opens a proxy on a free port of 127.0.0.1. */
export async function openSeverableProxy(target: { host: string; port: number }): Promise<SeverableProxy> {
  const sockets = new Set<Socket>()
  let whole = true
  const server = createServer((incoming) => {
    if (!whole) {
      incoming.destroy()
      return
    }
    const outgoing = connect(target.port, target.host)
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => (sockets.delete(from), to.destroy()))
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => sockets.forEach((socket) => socket.destroy())
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => ((whole = false), breakAll()),
    mend: () => (whole = true),
    close: async () => {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
