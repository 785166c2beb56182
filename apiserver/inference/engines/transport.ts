import { enginePort } from '../../../crds/engine-address.ts'
import { Connections } from '../../../lib/http-client/connections.ts'
import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { EngineBody } from './engine-body.ts'
import { EngineResponse } from './engine-response.ts'

// The same limit as in OpenAI's clients. A long reply that is not streamed sends nothing until it is complete.
const replyTimeoutMs = 1_200_000
const connectTimeoutMs = 2_000

/** A request to one engine. */
export interface EngineSending {
  /** The address of its pod. */
  host: string
  /** The request line and the headers, without the body's length. */
  head: string
  body: EngineBody
  /** The request ends when this client leaves. */
  client: ClientWatch
}

/** The connections to engines. */
export class EngineTransport {
  readonly #connections = new Connections({ connectMs: connectTimeoutMs, responseMs: replyTimeoutMs })

  /** Sends a request. Resolves when the response begins. @throws {Error} if the engine sends no response */
  send({ host, head, body, client }: EngineSending): Promise<EngineResponse> {
    return new Promise((resolve, reject) => {
      const response = new EngineResponse(client, { resolve, reject })
      if (client.hasLeft) {
        reject(new Error('nobody waits for the response'))
        return
      }
      const bytes = body.open()
      const request = { head: `${head}content-length: ${bytes.length}\r\n\r\n`, body: bytes, onSent: body.onSent }
      response.follow(this.#connections.send({ host, port: enginePort }, request, response))
    })
  }

  close(): void {
    this.#connections.close()
  }
}

// Failures that the content of a request cannot cause.
const unreachable = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'CONNECT_TIMEOUT']
const connectionFailures = new Set([...unreachable, 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'CLOSED'])

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
