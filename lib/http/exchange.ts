import type { IncomingMessage, ServerResponse } from 'node:http'
import { ClientWatch } from './client-watch.ts'
import { protectiveHeaders } from './protect-answers.ts'
import { chooseRequestId, requestIdHeader } from './request-id.ts'

const protective = Object.entries(protectiveHeaders).flat()

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
  /** Names and values by turns, as Node takes them with the least work. */
  readonly #headers: string[]
  #callbacks: (() => void)[] = []

  constructor(req: IncomingMessage, res: ServerResponse, path: string) {
    this.req = req
    this.res = res
    this.path = path
    this.requestId = chooseRequestId(this.get(requestIdHeader))
    this.#headers = [...protective, requestIdHeader, this.requestId]
    res.once('close', () => this.#close())
  }

  /** A header of the request; an empty text if there is none. */
  get(name: string): string {
    const value = this.req.headers[name.toLowerCase()]
    return typeof value === 'string' ? value : ''
  }

  /** Sets a header of the response. */
  set(name: string, value: string): void {
    const { length } = this.#headers
    for (let at = 0; at < length; at += 2) {
      if (this.#headers[at] !== name) continue
      this.#headers[at + 1] = value
      return
    }
    this.#headers.push(name, value)
  }

  /** Calls back when the response is sent or the client has left, or at once if that has happened. */
  whenClosed(callback: () => void): void {
    if (this.res.closed) callback()
    else this.#callbacks.push(callback)
  }

  /** Sends the status and headers. */
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    for (const name of Object.keys(headers)) this.set(name, String(headers[name]))
    this.res.writeHead(status, this.#headers)
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
