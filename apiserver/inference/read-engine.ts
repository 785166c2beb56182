import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
import type { Dispatcher } from 'undici'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import { isConnectionFailure } from './engine-client.ts'
import { replyLimitBytes } from './reply-size.ts'

// vLLM's errors are a sentence, which may quote what the client sent.
const errorLimitBytes = 256 * 1024

/**
 * All bytes of an engine's complete reply, which count among what is in memory as they come. When there is no room for
 * more, the engine is left, and stops.
 *
 * @throws {HttpError} 429 or 503 when there is too much in memory, 503 when the engine breaks off, 422 beyond the limit
 */
export function readReply(response: Dispatcher.ResponseData, memory: RequestReservation): Promise<Buffer> {
  return orUnavailable(memory.read(limitReply(response.body)))
}

/** The beginning of an engine's error. @throws {HttpError} 503 when the engine breaks off */
export function readErrorBody(response: Dispatcher.ResponseData): Promise<Buffer> {
  return orUnavailable(readStart(response.body, errorLimitBytes))
}

async function* limitReply(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > replyLimitBytes) throw tooLarge()
    yield chunk
  }
}

async function readStart(body: AsyncIterable<Buffer>, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limitBytes) break
  }
  return Buffer.concat(chunks)
}

async function orUnavailable(reading: Promise<Buffer>): Promise<Buffer> {
  try {
    return await reading
  } catch (error) {
    throw isConnectionFailure(error)
      ? new HttpError(errors.engine_unavailable, 'The engine closed the connection before its answer was complete.', {
          retryAfterSeconds: 2,
        })
      : error
  }
}

function tooLarge(): HttpError {
  const detail = `The reply is larger than ${replyLimitBytes} bytes. Set max_tokens, lower n or top_logprobs, or request a stream.`
  return new HttpError(errors.reply_too_large, detail)
}
