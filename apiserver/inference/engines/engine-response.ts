import type { Dispatcher } from 'undici'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'

// Bytes that arrive before a receiver is set usually belong to the same read of the connection. More arrive only if the
// receiver is set late.
const maxEarlyBytes = 64 * 1024

/** Receives the body of a response. After `onEnd` or `onError`, no method is called again. */
export interface ResponseReceiver {
  onData: (chunk: Buffer) => void
  onEnd: () => void
  onError: (error: Error) => void
}

interface Settle {
  resolve: (response: EngineResponse) => void
  reject: (error: Error) => void
}

type Connection = Dispatcher.DispatchController

/** An engine's response, passed on as it arrives, without a stream around it. */
export class EngineResponse implements Dispatcher.DispatchHandler {
  statusCode = 0
  headers: Readonly<Record<string, string | string[] | undefined>> = {}
  readonly #client: ClientWatch
  readonly #settle: Settle
  /** Undefined when the response is over, because the connection may then carry the next request. */
  #connection: Connection | undefined
  #receiver: ResponseReceiver | undefined
  #early: Buffer[] = []
  #earlyBytes = 0
  #outcome: { error: Error | undefined } | undefined
  #isReported = false
  #whenOver: (() => void)[] = []

  constructor(client: ClientWatch, settle: Settle) {
    this.#client = client
    this.#settle = settle
    client.whenLeft(() => this.abort())
  }

  onRequestStart(connection: Connection): void {
    this.#connection = connection
    if (this.#client.hasLeft) this.abort()
  }

  onResponseStart(_: Connection, statusCode: number, headers: EngineResponse['headers']): void {
    // An informational response. The final one follows it.
    if (statusCode < 200) return
    this.statusCode = statusCode
    this.headers = headers
    this.#settle.resolve(this)
  }

  onResponseData(_: Connection, chunk: Buffer): void {
    if (this.#receiver) {
      this.#receiver.onData(chunk)
      return
    }
    this.#early.push(chunk)
    this.#earlyBytes += chunk.length
    if (this.#earlyBytes > maxEarlyBytes) this.pause()
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  onResponseError(_: Connection, error: Error): void {
    if (this.statusCode === 0) this.#settle.reject(error)
    this.#end(error)
  }

  /** The length of the body in the response's headers. Undefined if they contain none. */
  get contentLength(): number | undefined {
    const header = this.headers['content-length']
    return header === undefined ? undefined : Number(header)
  }

  /** Sends all bytes that have arrived and that will arrive to a receiver. It replaces the previous receiver. */
  receive(receiver: ResponseReceiver): void {
    this.#receiver = receiver
    // A receiver may set another one.
    while (this.#receiver === receiver && this.#early.length > 0) receiver.onData(this.#early.shift()!)
    if (this.#outcome) this.#report(this.#outcome)
    else if (this.#earlyBytes > maxEarlyBytes) this.resume()
  }

  /** Puts a chunk back, for the next receiver. */
  unread(chunk: Buffer): void {
    this.#receiver = undefined
    this.#early.unshift(chunk)
  }

  /** Stops reading from the engine for now. Some bytes may still arrive. */
  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  /** Closes the connection, so that the engine stops. Does nothing when the response is complete. */
  abort(): void {
    this.#connection?.abort(new Error('nobody waits for the response'))
  }

  /** Calls back when the response is complete or was cut off. */
  whenOver(callback: () => void): void {
    if (this.#outcome) callback()
    else this.#whenOver.push(callback)
  }

  #end(error: Error | undefined): void {
    if (this.#outcome) return
    this.#outcome = { error }
    this.#connection = undefined
    try {
      this.#report(this.#outcome)
    } finally {
      for (const callback of this.#whenOver) callback()
    }
  }

  #report({ error }: { error: Error | undefined }): void {
    if (!this.#receiver || this.#isReported) return
    this.#isReported = true
    if (error) this.#receiver.onError(error)
    else this.#receiver.onEnd()
  }
}
