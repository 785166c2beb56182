import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { ClientWatch } from './client-watch.ts'
import { protectiveHeaders } from './protect-answers.ts'
import { chooseRequestId, requestIdHeader } from './request-id.ts'

/**
 * A request with its response, for handlers that answer before Koa. Its `get`, `set`, `req` and `res` match Koa's
 * context, so that the same functions can read both. All callers share one listener for the end of the response.
 */
export class Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly path: string
  readonly requestId: string
  readonly startMs = performance.now()
  readonly client = new ClientWatch()
  readonly #headers: OutgoingHttpHeaders
  #callbacks: (() => void)[] = []

  constructor(req: IncomingMessage, res: ServerResponse, path: string) {
    this.req = req
    this.res = res
    this.path = path
    this.requestId = chooseRequestId(this.get(requestIdHeader))
    this.#headers = { ...protectiveHeaders, [requestIdHeader]: this.requestId }
    res.once('close', () => this.#close())
  }

  /** A header of the request; an empty text if there is none. */
  get(name: string): string {
    const value = this.req.headers[name.toLowerCase()]
    return typeof value === 'string' ? value : ''
  }

  /** Sets a header of the response. */
  set(name: string, value: string): void {
    this.#headers[name] = value
  }

  /** Calls back when the response is sent or the client has left, or at once if that has happened. */
  whenClosed(callback: () => void): void {
    if (this.res.closed) callback()
    else this.#callbacks.push(callback)
  }

  /** Sends the status and headers. */
  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    this.res.writeHead(status, Object.assign(this.#headers, headers))
  }

  /** Sends a JSON text as the response. */
  sendJson(status: number, text: Uint8Array): void {
    this.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': text.length })
    this.res.end(text)
  }

  /** Aborts the response, because its client may not get the rest. */
  breakOff(): void {
    this.client.leave()
    this.res.destroy()
  }

  #close(): void {
    if (!this.res.writableFinished) this.client.leave()
    const callbacks = this.#callbacks
    this.#callbacks = []
    for (const callback of callbacks) callback()
  }
}
