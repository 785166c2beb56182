import type { Connection, ResponseHandler } from '../../../lib/http-client/connection.ts'
import type { ResponseHead } from '../../../lib/http-client/response-head.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'

// What comes before anybody receives it is of the same read of the connection, unless the receiver is slow to come.
const maxEarlyBytes = 64 * 1024

/** What becomes of a response's bytes. After `onEnd` or `onError` nothing more is called. */
export interface ResponseReceiver {
  onData: (chunk: Buffer) => void
  onEnd: () => void
  onError: (error: Error) => void
}

type Settle = { resolve: (response: EngineResponse) => void; reject: (error: Error) => void }

/** An engine's response as it comes, without a stream around it. */
export class EngineResponse implements ResponseHandler {
  statusCode = 0
  headers: ResponseHead['headers'] = {}
  readonly #settle: Settle
  /** Until the response is over. Then the connection may have the next request. */
  #connection: Connection | undefined
  #receiver: ResponseReceiver | undefined
  #early: Buffer[] = []
  #earlyBytes = 0
  #outcome: { error: Error | undefined } | undefined
  #isReported = false
  #whenOver: (() => void)[] = []

  constructor(client: ClientWatch, settle: Settle) {
    this.#settle = settle
    client.whenLeft(() => this.abort())
  }

  /** The connection that it will come over. */
  follow(connection: Connection): void {
    this.#connection = connection
  }

  onHead({ statusCode, headers }: ResponseHead): void {
    this.statusCode = statusCode
    this.headers = headers
    this.#settle.resolve(this)
  }

  onData(chunk: Buffer): void {
    if (this.#receiver) {
      this.#receiver.onData(chunk)
      return
    }
    this.#early.push(chunk)
    this.#earlyBytes += chunk.length
    if (this.#earlyBytes > maxEarlyBytes) this.pause()
  }

  onEnd(): void {
    this.#end(undefined)
  }

  onError(error: Error): void {
    if (this.statusCode === 0) this.#settle.reject(error)
    this.#end(error)
  }

  /** The announced length of the body; undefined when there is none. */
  get contentLength(): number | undefined {
    const header = this.headers['content-length']
    return header === undefined ? undefined : Number(header)
  }

  /** Gives what has come, and all that comes, to a receiver, which takes the place of the one before. */
  receive(receiver: ResponseReceiver): void {
    this.#receiver = receiver
    // A receiver may give way to another one.
    while (this.#receiver === receiver && this.#early.length > 0) receiver.onData(this.#early.shift()!)
    if (this.#outcome) this.#report(this.#outcome)
    else if (this.#earlyBytes > maxEarlyBytes) this.resume()
  }

  /** Gives a chunk back, for the next receiver. */
  unread(chunk: Buffer): void {
    this.#receiver = undefined
    this.#early.unshift(chunk)
  }

  /** Takes no more from the engine for now. Some bytes may still come. */
  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  /** Closes the connection, by which the engine stops. It does nothing when the response is complete. */
  abort(): void {
    this.#connection?.abort(new Error('nobody waits for the response'))
  }

  /** Calls back when the response is complete or has broken off. */
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
