import { Agent, type Dispatcher } from 'undici'
import { engineOrigin } from '../../../crds/engine-address.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { EngineBody } from './engine-body.ts'

// The same limit as in OpenAI's clients. A long reply that is not streamed sends nothing until it is complete.
const replyTimeoutMs = 1_200_000
const connectTimeoutMs = 2_000
// Less than the time that servers keep an idle connection (uvicorn: 5 s), so that no request is sent while the server
// closes the connection.
const keepIdleMs = 4_000

/** A request to one engine. */
export interface EngineSending {
  /** The address of its pod. */
  host: string
  path: string
  headers: Readonly<Record<string, string>>
  body: EngineBody
  /** The request ends when this client leaves. */
  client: ClientWatch
}

/** An engine's response. Its body is read as it arrives, and not faster than it is used. */
export type EngineResponse = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>

/** The connections to engines. There are as many as concurrent requests. */
export class EngineTransport {
  readonly #agent = new Agent({
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: replyTimeoutMs,
    bodyTimeout: replyTimeoutMs,
    keepAliveTimeout: keepIdleMs,
    keepAliveMaxTimeout: keepIdleMs,
  })

  /** Sends a request. Resolves when the response begins. @throws {Error} if the engine sends no response */
  async send({ host, path, headers, body, client }: EngineSending): Promise<EngineResponse> {
    const response = await this.#agent.request({
      origin: engineOrigin(host),
      path,
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.length) },
      body: body.open(),
      signal: client.signal,
    })
    // Whoever reads the body gets its error. It may also be dropped.
    response.body.on('error', () => {})
    return response
  }

  /** Closes all connections, and ends their requests. */
  close(): void {
    void this.#agent.destroy()
  }
}

// Failures that the content of a request cannot cause.
const unreachable = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']
const closed = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'HPE_INVALID_EOF_STATE']
const connectionFailures = new Set([...unreachable, ...closed])

/** Whether no connection to the engine was possible. */
export function isUnreachable(error: unknown): boolean {
  return unreachable.includes(codeOf(error))
}

/** Whether a request got no answer because the engine was not available, or disconnected. */
export function isConnectionFailure(error: unknown): boolean {
  return connectionFailures.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error ? String((error as { code?: unknown }).code) : ''
}
