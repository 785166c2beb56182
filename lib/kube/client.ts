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
  /** Some routes answer with a type of their own only. */
  accept?: string
  /** gives up before its own time is over */
  signal?: AbortSignal
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: T
}

interface ClientOptions {
  /** the name that requests carry, and that owns the fields which they set */
  userAgent: string
  /** An API server that does not answer within this time counts as away. */
  timeoutMs?: number
}

// The Lease's renewals must fit well into it.
const defaultTimeoutMs = 5_000

/**
 * Requests to the Kubernetes API server, each with a time limit.
 *
 * The calls of the client library know no time limit and no server-side apply.
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
   * Sends one request and gives the parsed answer.
   *
   * @throws {KubeError} when the server answers with an error; other errors when it cannot be reached or takes too long
   */
  async request<T>(request: KubeRequest): Promise<T> {
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout
    const response = await this.#send(request, signal)
    return JSON.parse(await text(response)) as T
  }

  /**
   * Follows a watch until the server ends it, `signal` aborts it or the connection breaks (then it throws).
   * `query` says from where and for how long (`resourceVersion`, `timeoutSeconds`).
   */
  async *watch<T>(path: string, query: Record<string, string>, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const opening = new AbortController()
    const timer = setTimeout(() => opening.abort(new Error('the watch did not start in time')), this.#timeoutMs)
    const response = await this.#send(
      { path, query: { ...query, watch: 'true' } },
      AbortSignal.any([opening.signal, signal]),
    ).finally(() => clearTimeout(timer))
    for await (const line of readLines(response)) yield JSON.parse(line) as WatchEvent<T>
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy()
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
      // Node sends the body of a DELETE without a length by default, and the next request on the connection breaks.
      headers['content-length'] = String(Buffer.byteLength(payload))
    }
    const response = await this.#open(url, { method, headers, signal }, payload).catch((error: unknown) => {
      // An abort says why only in the signal.
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

/** The lines of a body; a rest without a line feed is a cut-off line, and no line. */
async function* readLines(body: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
