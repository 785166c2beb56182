import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { isConnectionFailure, type EngineResponse } from './transport.ts'

/** The largest complete reply that a request may ask for. It is less memory than one request alone may reserve. */
export const replyLimitBytes = 256 * 1024 * 1024
// vLLM's errors are one sentence, which may quote the client's request.
const errorLimitBytes = 256 * 1024

/**
 * Reads an engine's complete reply. Its bytes are reserved as they arrive. If there is no memory left, the request is
 * aborted and the engine stops.
 *
 * @throws {HttpError} 429 or 503 if there is not enough memory, 503 if the engine disconnects, 422 beyond the limit
 */
export function readReply(chunks: AsyncIterable<Buffer>, memory: RequestReservation): Promise<Buffer> {
  return orUnavailable(memory.read(limitReply(chunks)))
}

/** Reads the beginning of an engine's error. @throws {HttpError} 503 if the engine disconnects */
export function readErrorBody(response: EngineResponse): Promise<Buffer> {
  return orUnavailable(readStart(response, errorLimitBytes))
}

/** The error for a reply that the engine did not complete. */
export function brokenOff(): HttpError {
  const detail = 'The engine closed the connection before its answer was complete.'
  return new HttpError(errors.engine_unavailable, detail, { retryAfterSeconds: 2 })
}

/** The error for a reply that is larger than the limit. */
export function replyTooLarge(): HttpError {
  const detail = `The reply is larger than ${replyLimitBytes} bytes. Set max_tokens, lower n or top_logprobs, or request a stream.`
  return new HttpError(errors.reply_too_large, detail)
}

async function* limitReply(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > replyLimitBytes) throw replyTooLarge()
    yield chunk
  }
}

async function readStart({ body }: EngineResponse, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limitBytes) break
  }
  return Buffer.concat(chunks)
}

/** @throws {HttpError} 503 if the engine disconnects */
export async function orUnavailable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw isConnectionFailure(error) ? brokenOff() : error
  }
}
