import type { ServerResponse } from 'node:http'

const lineEnd = Buffer.from('\r\n')
const lastFrame = Buffer.from('0\r\n\r\n')

/**
 * A response whose chunks are framed here, with one buffer for each chunk. Node writes three buffers for each chunk,
 * which costs more than all other work on a small event. A client of HTTP/1.0 does not know chunks, so it gets the
 * bytes without frames.
 */
export class ChunkFrames {
  readonly #response: ServerResponse
  readonly #isFramed: boolean

  /** @param response its head was written with `Transfer-Encoding: chunked` if Node would have chosen that */
  constructor(response: ServerResponse) {
    this.#response = response
    this.#isFramed = response.chunkedEncoding
    // From now on, Node writes the bytes unchanged, and adds no last chunk.
    response.chunkedEncoding = false
  }

  /** Returns false if the client reads more slowly than bytes arrive. 'drain' says when to continue. */
  write(bytes: Buffer): boolean {
    return bytes.length === 0 || this.#response.write(this.#isFramed ? frame(bytes) : bytes)
  }

  end(): void {
    if (this.#isFramed) this.#response.end(lastFrame)
    else this.#response.end()
  }
}

function frame(bytes: Buffer): Buffer {
  const size = `${bytes.length.toString(16)}\r\n`
  const framed = Buffer.allocUnsafe(size.length + bytes.length + lineEnd.length)
  framed.write(size, 'latin1')
  framed.set(bytes, size.length)
  framed.set(lineEnd, size.length + bytes.length)
  return framed
}
