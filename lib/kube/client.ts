import http from 'node:http'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import type { KubeAccess } from './credentials.ts'
import type { UnsentOptions } from './credentials.ts'
import { KubeError } from './error.ts'

export interface KubeRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Record<string, string>
  body?: unknown
  contentType?: string
  /** Some routes only answer with their own media type. */
  accept?: string
  /** Aborts before the time limit. */
  signal?: AbortSignal
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: T
}

interface ClientOptions {
  /** The name of this client in its requests. It owns the fields that the client sets. */
  userAgent: string
  /** An API server that does not answer within this time counts as unavailable. */
  timeoutMs?: number
}

const timedOut = () => new DOMException('no answer in time', 'TimeoutError')
// Much shorter than the times of the Lease's renewals.
const defaultTimeoutMs = 5_000

/**
 * Requests to the Kubernetes API server, each with a time limit.
 *
 * The calls of the client library have no time limits and no server-side apply.
 */
export class KubeClient {
  readonly userAgent: string
  readonly #access: KubeAccess
  readonly #server: URL
  readonly #timeoutMs: number
  readonly #agent: http.Agent

  constructor(access: KubeAccess, { userAgent, timeoutMs = defaultTimeoutMs }: ClientOptions) {
    this.userAgent = userAgent
    this.#access = access
    this.#server = new URL(access.server)
    this.#timeoutMs = timeoutMs
    this.#agent = this.#isPlain() ? new http.Agent({ keepAlive: true }) : new https.Agent({ keepAlive: true })
  }

  /**
   * Sends one request and returns the parsed answer.
   *
   * @throws {KubeError} if the server answers with an error; other errors if it cannot be reached or takes too long
   */
  async request<T>(request: KubeRequest): Promise<T> {
    return this.#withTimeLimit(request.signal, timedOut, async (signal) => {
      const response = await this.#send(request, signal)
      return JSON.parse(await text(response)) as T
    })
  }

  /**
   * Opens a watch. Its events end when the server ends it or `signal` aborts it, and throw if the connection breaks. `query`
   * sets the start and the duration (`resourceVersion`, `timeoutSeconds`).
   */
  async watch<T>(
    path: string,
    query: Record<string, string>,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<WatchEvent<T>>> {
    const late = () => new Error('the watch did not start in time')
    const response = await this.#withTimeLimit(signal, late, (limited) =>
      this.#send({ path, query: { ...query, watch: 'true' } }, limited),
    )
    return readEvents<T>(response)
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy()
  }

  /** Works with a signal that aborts when `signal` does, and after the time limit if the work is not done then. */
  async #withTimeLimit<T>(
    signal: AbortSignal | undefined,
    reason: () => Error,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(reason()), this.#timeoutMs)
    try {
      return await work(signal ? AbortSignal.any([limit.signal, signal]) : limit.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  async #send(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method = 'GET', path, query = {}, body, contentType = 'application/json' } = request
    const { accept = 'application/json' } = request
    const url = new URL(this.#server.pathname.replace(/\/$/, '') + path, this.#server)
    url.search = new URLSearchParams(query).toString()
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const headers: Record<string, string> = { accept, 'user-agent': this.userAgent }
    if (payload !== undefined) {
      headers['content-type'] = contentType
      // By default, Node sends the body of a DELETE without a length, which breaks the next request on the connection.
      headers['content-length'] = String(Buffer.byteLength(payload))
    }
    const response = await this.#open(url, { method, headers, signal }, payload).catch((error: unknown) => {
      // Only the signal has the reason of an abort.
      throw new Error(`${method} ${path}: no answer`, { cause: signal.aborted ? signal.reason : error })
    })
    if ((response.statusCode ?? 500) < 300) return response
    throw new KubeError(`${method} ${path}`, response.statusCode ?? 500, await text(response))
  }

  async #open(url: URL, options: UnsentOptions, payload?: string): Promise<IncomingMessage> {
    await this.#access.authenticate(options)
    options.agent ??= this.#agent
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing = (this.#isPlain() ? http : https).request(url, options, resolve)
    outgoing.on('error', reject)
    outgoing.end(payload)
    return promise
  }

  #isPlain(): boolean {
    return this.#server.protocol === 'http:'
  }
}

async function* readEvents<T>(body: IncomingMessage): AsyncGenerator<WatchEvent<T>> {
  for await (const line of readLines(body)) yield JSON.parse(line) as WatchEvent<T>
}

/** Yields the lines of a body. A rest without a line feed was cut off, and is dropped. */
async function* readLines(body: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
