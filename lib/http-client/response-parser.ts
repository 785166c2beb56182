import { isAt } from '../json/bytes.ts'
import { readChunkLine } from './chunk-line.ts'
import { HttpClientError, malformed } from './errors.ts'
import { parseHead, type ResponseHead } from './response-head.ts'

/** Receives a response as it arrives. */
export interface ResponseReader {
  onHead: (head: ResponseHead) => void
  onData: (chunk: Buffer) => void
  /** The whole response has arrived. */
  onEnd: () => void
}

const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
// The limit of a head, of the line before a chunk, and of a trailer.
const maxHeldBytes = 16 * 1024

/**
 * Parses the bytes of HTTP/1.1 responses, one after the other. It passes the parts of a body on without copying them.
 * It rejects ambiguous responses, and any bytes after the end of a response.
 */
export class ResponseParser {
  readonly #reader: ResponseReader
  #state: 'idle' | 'head' | 'body' | 'chunk-line' | 'chunk' | 'chunk-end' | 'trailers' = 'idle'
  /** The number of bytes that are missing of the body or the chunk. */
  #left = 0
  /** The beginning of a part that can only be read as a whole. */
  #held: Buffer | undefined
  #head: ResponseHead | undefined
  #isStopped = false

  constructor(reader: ResponseReader) {
    this.#reader = reader
  }

  /** Whether no response is expected. */
  get isIdle(): boolean {
    return this.#state === 'idle'
  }

  /** Prepares for the next response. */
  begin(): void {
    this.#state = 'head'
  }

  /** Parses the next bytes. @throws {HttpClientError} if they are not part of a valid response */
  read(chunk: Buffer): void {
    const bytes = this.#held ? Buffer.concat([this.#held, chunk]) : chunk
    this.#held = undefined
    for (let at = 0; at < bytes.length && !this.#isStopped;) {
      const next = this.#readPart(bytes, at)
      if (next === undefined) {
        this.#hold(bytes.subarray(at))
        return
      }
      at = next
    }
  }

  /** Ignores the rest, because the reader needs no more. */
  stop(): void {
    this.#isStopped = true
  }

  /** Records that the connection has ended. @throws {HttpClientError} if a part of the response is missing */
  close(): void {
    if (this.#state === 'idle' || this.#isStopped) return
    if (this.#state !== 'body' || this.#head?.framing !== 'until-close')
      throw new HttpClientError('CLOSED', 'the other side has closed the connection')
    this.#end()
  }

  /** Returns where the next part begins. Undefined if more bytes are needed first. */
  #readPart(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'body':
      case 'chunk':
        return this.#readData(bytes, at)
      case 'chunk-line':
        return this.#readChunkLine(bytes, at)
      case 'chunk-end':
        return this.#readLineEnd(bytes, at)
      case 'trailers':
        return this.#readTrailer(bytes, at)
      default:
        throw malformed('what nobody asked for')
    }
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(headEnd, at)
    if (end === -1) return undefined
    const head = parseHead(bytes.toString('latin1', at, end))
    // An informational response. The final one follows it.
    if (head.statusCode < 200) return end + headEnd.length
    this.#head = head
    const { framing } = head
    this.#state = framing === 'chunked' ? 'chunk-line' : 'body'
    this.#left = typeof framing === 'number' ? framing : Infinity
    this.#reader.onHead(head)
    if (framing === 0) this.#end()
    return end + headEnd.length
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    const isLast = this.#left === 0
    if (isLast && this.#state === 'chunk') this.#state = 'chunk-end'
    this.#reader.onData(bytes.subarray(at, end))
    if (isLast && this.#state === 'body') this.#end()
    return end
  }

  #readChunkLine(bytes: Buffer, at: number): number | undefined {
    const line = readChunkLine(bytes, at)
    if (!line) return undefined
    this.#left = line.size
    this.#state = line.size === 0 ? 'trailers' : 'chunk'
    return line.end
  }

  #readLineEnd(bytes: Buffer, at: number): number | undefined {
    if (bytes.length - at < lineEnd.length) return undefined
    if (!isAt(bytes, at, lineEnd)) throw malformed('a chunk of another length')
    this.#state = 'chunk-line'
    return at + lineEnd.length
  }

  /** Skips a trailer, which is not used. An empty line is the last one. */
  #readTrailer(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(lineEnd, at)
    if (end === -1) return undefined
    if (end === at) this.#end()
    return end + lineEnd.length
  }

  #hold(bytes: Buffer): void {
    if (bytes.length > maxHeldBytes) throw malformed(`more than ${maxHeldBytes} bytes without an end of line`)
    this.#held = bytes
  }

  #end(): void {
    this.#state = 'idle'
    if (!this.#isStopped) this.#reader.onEnd()
  }
}
