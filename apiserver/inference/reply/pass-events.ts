import type { Exchange } from '../../../lib/http/exchange.ts'
import { isConnectionFailure } from '../engines/transport.ts'
import { ChunkFrames } from './chunk-frames.ts'
import type { EngineReply } from './engine-reply.ts'
import { EventStream } from './event-stream.ts'
import { Splice } from './splice.ts'

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must not buffer events.
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
}

/**
 * Passes an engine's events on as they arrive, at the client's pace. A stream that is cut off ends with an event that
 * contains the error. If the gateway itself cuts it off, the connection is closed too.
 *
 * @param presentError writes an error in the form that clients of the path expect
 */
export function passEvents(reply: EngineReply, exchange: Exchange, presentError: (error: unknown) => object): void {
  const { response, names, meter, memory, charge } = reply
  const { res, client } = exchange
  exchange.writeHead(200, headers)
  const frames = new ChunkFrames(exchange, () => response.resume())
  const events = new EventStream(names, meter, memory)
  const write = (lines: Splice) => {
    reply.tap?.(lines.join())
    if (!frames.write(lines)) response.pause()
  }
  const breakOff = (error: Error) => {
    if (client.hasLeft) return
    const start = events.isWithinEvent ? '\n' : ''
    write(new Splice(Buffer.from(`${start}data: ${JSON.stringify(presentError(error))}\n\n`)))
    if (isConnectionFailure(error)) frames.end()
    else res.socket?.destroySoon()
  }
  const end = () => {
    write(events.end())
    frames.end()
  }
  response.receive({ onData: (chunk) => write(events.pass(chunk)), onEnd: end, onError: breakOff })
  response.whenOver(charge)
}
