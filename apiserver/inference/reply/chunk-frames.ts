import type { Exchange } from '../../../lib/http/exchange.ts'
import type { Splice } from './splice.ts'

const lineEnd = Buffer.from('\r\n')
const lastFrame = Buffer.from('0\r\n\r\n')

/**
 * A response whose chunks are framed here, and written to its connection in one buffer each. Node writes three buffers
 * for each chunk, and holds them until the next tick, which costs more than all other work on a small event. A client of
 * HTTP/1.0 does not know chunks, so it gets the bytes without frames.
 */
export class ChunkFrames {
  readonly #response: Exchange['res']
  /** The response itself while an earlier response is written to the connection. */
  readonly #target: NonNullable<Exchange['res']['socket']> | Exchange['res']
  readonly #isFramed: boolean

  /**
   * @param exchange the head of its response is written, with `Transfer-Encoding: chunked` if Node would have chosen that
   * @param onDrain is called when a slow client has read what waited for it
   */
  constructor(exchange: Exchange, onDrain: () => void) {
    const { res } = exchange
    this.#response = res
    this.#isFramed = res.chunkedEncoding
    // From now on, Node writes the bytes unchanged, and adds no last chunk.
    res.chunkedEncoding = false
    res.flushHeaders()
    const target = res.socket ?? res
    this.#target = target.on('drain', onDrain)
    // The connection is used for the next request.
    exchange.whenClosed(() => target.off('drain', onDrain))
  }

  /** Returns false if the client reads more slowly than bytes arrive. */
  write(lines: Splice): boolean {
    return lines.length === 0 || this.#target.write(this.#isFramed ? frame(lines) : lines.join())
  }

  end(): void {
    if (this.#isFramed) this.#response.end(lastFrame)
    else this.#response.end()
  }
}

function frame(lines: Splice): Buffer {
  return lines.joinBetween(Buffer.from(`${lines.length.toString(16)}\r\n`, 'latin1'), lineEnd)
}
