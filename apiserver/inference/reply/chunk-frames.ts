import type { ServerResponse } from 'node:http'

const lineEnd = Buffer.from('\r\n')
const lastFrame = Buffer.from('0\r\n\r\n')

/**
 * A response whose chunks are framed here, each in one buffer: Node writes three buffers for each, which costs a small
 * event more than all else. To a client of HTTP/1.0, which knows no chunks, the bytes go as they are.
 */
export class ChunkFrames {
  readonly #response: ServerResponse
  readonly #isFramed: boolean

  /** @param response whose head was written with `Transfer-Encoding: chunked` if Node would have chosen that */
  constructor(response: ServerResponse) {
    this.#response = response
    this.#isFramed = response.chunkedEncoding
    // Node writes what it gets as it is from now on, and no last chunk.
    response.chunkedEncoding = false
  }

  /** Answers false when the client takes bytes more slowly than they come: 'drain' tells when to go on. */
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
