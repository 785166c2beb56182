import { Agent } from 'undici'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { EngineBody } from './engine-body.ts'
import { EngineResponse } from './engine-response.ts'

// The chat clients' own limit: a long reply that is not streamed sends nothing until it is complete.
const replyTimeoutMs = 1_200_000
const connectTimeoutMs = 2_000

/** A request to one engine. */
export interface EngineSending {
  origin: string
  path: string
  headers: Record<string, string>
  body: EngineBody
  /** Whose leaving ends the request. */
  client: ClientWatch
}

/** The connections to engines: a pool for each. */
export class EngineTransport {
  readonly #agent = new Agent({
    headersTimeout: replyTimeoutMs,
    bodyTimeout: replyTimeoutMs,
    connect: { timeout: connectTimeoutMs },
  })

  /** Sends a request; resolves when the response begins. @throws {Error} when the engine gives none */
  send({ origin, path, headers, body, client }: EngineSending): Promise<EngineResponse> {
    return new Promise((resolve, reject) => {
      const options = {
        origin,
        path,
        method: 'POST' as const,
        headers: { ...headers, 'content-length': String(body.size) },
        body: body.open(),
      }
      this.#agent.dispatch(options, new EngineResponse(client, { resolve, reject }))
    })
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

// What no request can cause by what is in it.
const unreachable = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']
const connectionFailures = new Set([...unreachable, 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Whether an engine could not be connected to. */
export function isUnreachable(error: unknown): boolean {
  return unreachable.includes(codeOf(error))
}

/** Whether a request ended without an answer because the engine was not there (any more). */
export function isConnectionFailure(error: unknown): boolean {
  return connectionFailures.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error ? String((error as { code?: unknown }).code) : ''
}
