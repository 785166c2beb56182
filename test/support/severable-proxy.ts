import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP way to a server that a test can cut: what is connected breaks, and nobody gets through until it is mended. */
export interface SeverableProxy {
  port: number
  /** How many pieces clients have sent, of which a small query is one. */
  readonly sent: number
  cut: () => void
  /** Cuts only what is or gets connected by clients that begin with this text. */
  cutOnly: (text: string) => void
  /** Of those clients, nothing gets through any more in either direction, and nothing breaks. */
  hang: (text: string) => void
  mend: () => void
  close: () => Promise<void>
}

/** One client's way through. */
interface Way {
  incoming: Socket
  outgoing: Socket
  /** What the client sent first. */
  beginning: string
}

type Block = { is: 'cut' | 'hung'; text: string } | undefined

/** Opens one on a free port of 127.0.0.1. */
export async function openSeverableProxy(target: { host: string; port: number }): Promise<SeverableProxy> {
  const ways = new Set<Way>()
  let block: Block
  let sent = 0
  const server = createServer((incoming) => {
    if (block?.text === '') {
      incoming.destroy()
      return
    }
    const way = { incoming, outgoing: connect(target.port, target.host), beginning: '' }
    ways.add(way)
    join(way, (chunk) => {
      way.beginning ||= chunk.toString('latin1')
      apply(block, way)
      sent++
    })
    incoming.on('close', () => ways.delete(way))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const begin = (next: Block) => {
    block = next
    for (const way of ways) apply(block, way)
  }
  return {
    port: (server.address() as AddressInfo).port,
    get sent() {
      return sent
    },
    cut: () => begin({ is: 'cut', text: '' }),
    cutOnly: (text) => begin({ is: 'cut', text }),
    hang: (text) => begin({ is: 'hung', text }),
    mend: () => (block = undefined),
    close: async () => {
      begin({ is: 'cut', text: '' })
      server.close()
      await once(server, 'close')
    },
  }
}

function join({ incoming, outgoing }: Way, onSend: (chunk: Buffer) => void): void {
  for (const [from, to] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ] as const) {
    from.on('error', () => {})
    from.on('close', () => to.destroy())
  }
  incoming.on('data', onSend)
  incoming.pipe(outgoing)
  outgoing.pipe(incoming)
}

function apply(block: Block, { incoming, outgoing, beginning }: Way): void {
  if (!block || !beginning.includes(block.text)) return
  if (block.is === 'cut') {
    incoming.destroy()
    return
  }
  incoming.unpipe(outgoing)
  outgoing.unpipe(incoming)
  // Their data is discarded.
  incoming.resume()
  outgoing.resume()
}
