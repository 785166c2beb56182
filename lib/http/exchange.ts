import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { ClientWatch } from './client-watch.ts'
import { protectiveHeaders } from './protect-answers.ts'
import { chooseRequestId, requestIdHeader } from './request-id.ts'

/**
 * A request with its response for handlers that answer before Koa. Its `get`, `set`, `req` and `res` are those of Koa's
 * context, so that both share what reads them. One listener waits for the end of the response, however many callers do.
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

  /** A header of the request; an empty text when there is none. */
  get(name: string): string {
    const value = this.req.headers[name.toLowerCase()]
    return typeof value === 'string' ? value : ''
  }

  /** Sets a header of the answer. */
  set(name: string, value: string): void {
    this.#headers[name] = value
  }

  /** Calls back when the answer is out or the client has left; at once when that has happened. */
  whenClosed(callback: () => void): void {
    if (this.res.closed) callback()
    else this.#callbacks.push(callback)
  }

  /** Begins the answer. */
  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    this.res.writeHead(status, Object.assign(this.#headers, headers))
  }

  /** Answers with a JSON text. */
  sendJson(status: number, text: Uint8Array): void {
    this.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': text.length })
    this.res.end(text)
  }

  /** Ends the answer where it is: its client may no longer have it. */
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
