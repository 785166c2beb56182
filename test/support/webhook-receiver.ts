import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { closeWithConnections, openLocally } from './local-server.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  status: number | 'never'
}

/** A server that receives a test's webhooks. */
export interface Receiver {
  url: string
  /** The received requests, in order. */
  received: Received[]
  /** Refuses connections until `up`. */
  down: () => Promise<void>
  up: () => Promise<void>
  close: () => Promise<void>
}

/** Opens a receiver on a free port of 127.0.0.1. It answers 200 by default. It can answer another status, or never. */
export async function openReceiver(
  answer: (received: Omit<Received, 'status'>, index: number) => number | 'never' = () => 200,
): Promise<Receiver> {
  const received: Received[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const each = { path: request.url ?? '', headers: request.headers, body: await text(request) }
    const status = answer(each, received.length)
    received.push({ ...each, status })
    if (status !== 'never') response.writeHead(status).end()
  }
  const server = createServer((request, response) => void receive(request, response))
  const down = () => closeWithConnections(server)
  const port = await openLocally(server)
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    down,
    up: async () => void (await openLocally(server, port)),
    close: async () => {
      if (server.listening) await down()
    },
  }
}
