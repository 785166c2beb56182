import { connect, type Socket } from 'node:net'
import { HttpClientError } from './errors.ts'
import type { ResponseHead } from './response-head.ts'
import { ResponseParser, type ResponseReader } from './response-parser.ts'
import { writeSmall } from './write-small.ts'

/** Receives the response of a request. After `onEnd` or `onError`, no method is called again. */
export interface ResponseHandler extends ResponseReader {
  onError: (error: Error) => void
}

/** A request as it is sent over a connection. */
export interface HttpRequest {
  /** The request line and the headers, with the empty line after them. */
  head: string
  body: Buffer
  /** Called when the operating system has accepted the body. */
  onSent?: (() => void) | undefined
}

/** How long a connection waits. */
export interface ConnectionTimes {
  connectMs: number
  /** The time between two reads of a response. */
  responseMs: number
}

export interface ConnectionOptions {
  host: string
  port: number
  times: ConnectionTimes
  /** Called when the connection can send the next request. */
  onFree: () => void
  onClosed: () => void
}

const keepAliveProbeMs = 60_000
// All connections read into it, one after the other. Node's own reads allocate as much for each, whatever comes.
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

/** A connection to a server. It sends one request after the other. */
export class Connection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #parser = new ResponseParser({
    onHead: (head) => this.#takeHead(head),
    onData: (chunk) => this.#handler?.onData(chunk),
    onEnd: () => this.#finish()?.onEnd(),
  })
  #handler: ResponseHandler | undefined
  #isReusable = false
  #isPaused = false
  #error: Error | undefined
  /** When the last response ended. */
  freeSinceMs = 0

  constructor(options: ConnectionOptions) {
    const { host, port, times } = options
    this.#options = options
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveProbeMs,
      onread: { buffer: readBuffer, callback: (size) => this.#read(Buffer.from(readBuffer.subarray(0, size))) },
    })
    this.#socket.setTimeout(times.connectMs)
    this.#socket.once('connect', () => this.#socket.setTimeout(times.responseMs))
    this.#socket.on('timeout', () => this.#timeOut())
    this.#socket.on('error', (error) => (this.#error = error))
    this.#socket.on('close', () => this.#close())
  }

  /** Whether it can send a request. */
  get isFree(): boolean {
    return this.#handler === undefined && this.#socket.writable
  }

  send({ head, body, onSent }: HttpRequest, handler: ResponseHandler): void {
    this.#handler = handler
    this.#isReusable = false
    this.#parser.begin()
    if (!onSent && writeSmall(this.#socket, head, body)) return
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    this.#socket.write(body, onSent && ((error) => error ?? onSent()))
    this.#socket.uncork()
  }

  /** Stops reading the response for now. */
  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    // While reading was paused, the timeout has continued since the last read.
    this.#socket.setTimeout(this.#options.times.responseMs)
    this.#socket.resume()
  }

  /** Closes the connection and ends its request. */
  abort(error: Error): void {
    this.#parser.stop()
    this.#socket.destroy()
    this.#finish()?.onError(error)
  }

  #takeHead(head: ResponseHead): void {
    this.#isReusable = head.isReusable
    this.#handler?.onHead(head)
  }

  /** Returns whether the socket goes on reading. */
  #read(chunk: Buffer): boolean {
    try {
      this.#parser.read(chunk)
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error('a response was not read', { cause: error }))
      return false
    }
    if (this.#parser.isIdle) this.#becomeFree()
    return !this.#isPaused
  }

  #becomeFree(): void {
    // A server that has answered before it received the whole body may not read the rest.
    if (!this.#isReusable || this.#socket.writableLength > 0) return void this.#socket.destroy()
    if (this.#isPaused) this.resume()
    this.freeSinceMs = performance.now()
    this.#options.onFree()
  }

  /** Ends the request. The caller must tell the returned handler why. */
  #finish(): ResponseHandler | undefined {
    const handler = this.#handler
    this.#handler = undefined
    return handler
  }

  #timeOut(): void {
    if (this.#socket.connecting) this.abort(new HttpClientError('CONNECT_TIMEOUT', 'the other side does not answer'))
    else if (!this.#isPaused) this.abort(new HttpClientError('RESPONSE_TIMEOUT', 'nothing of a response came in time'))
  }

  #close(): void {
    this.#options.onClosed()
    try {
      if (this.#error) throw this.#error
      this.#parser.close()
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error('a connection was closed', { cause: error }))
    }
  }
}
