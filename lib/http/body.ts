import { HttpError, unprocessable } from './http-error.ts'
import { httpErrors } from './errors.ts'
import { parseJson, type AcceptOutline, type JsonDocument } from '../json/document.ts'
import { findLoneSurrogate } from '../json/lone-surrogate.ts'
import { JsonError } from '../json/parse.ts'
import type { HttpContext } from './context.ts'

// In this time, a client that only sends can still receive the answer.
const lingerMs = 2_000

/**
 * Reads the chunks of a JSON body of at most `limitBytes` as they arrive. Reads nothing before the first chunk is
 * requested.
 *
 * @throws {HttpError} 413 if it is larger (at once if its Content-Length says so), 415 for another content type or a
 * compressed body
 */
export function openBody(ctx: HttpContext, limitBytes: number): AsyncIterable<Buffer> {
  return openAnyBody(ctx, limitBytes, rejectOtherContent)
}

/** Reads a body with a type and encoding that `checkContent` accepts. */
export async function* openAnyBody(
  ctx: HttpContext,
  limitBytes: number,
  checkContent: (ctx: HttpContext) => void,
): AsyncIterable<Buffer> {
  let complete = false
  try {
    checkContent(ctx)
    openTransfer(ctx, ctx.request.length ?? 0, limitBytes)
    let size = 0
    // The end of the iteration must not close the connection, because the answer must still be sent.
    for await (const chunk of ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limitBytes) throw bodyTooLarge(limitBytes)
      yield chunk
    }
    complete = true
  } finally {
    if (!complete) linger(ctx)
  }
}

/** @throws {HttpError} 422 if the bytes are not JSON or contain unpaired surrogates; and what `accept` throws */
export function parseBody(bytes: Uint8Array, accept?: AcceptOutline): JsonDocument {
  const document = parseDocument(bytes, accept)
  const path = findLoneSurrogate(document)
  if (!path) return document
  throw stringUnicode(path)
}

/** The error for a string at `path` with an unpaired surrogate. */
export function stringUnicode(path: string[]): HttpError {
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  return unprocessable({ loc: ['body', ...path], msg, type: 'string_unicode' })
}

/** The error for a body that is not JSON. */
/** `path` is that of the value which is no JSON, as far as it is known. */
export function jsonInvalid({ message }: JsonError, path: string[] = []): HttpError {
  return unprocessable({ loc: ['body', ...path], msg: `JSON decode error: ${message}`, type: 'json_invalid' })
}

function parseDocument(bytes: Uint8Array, accept: AcceptOutline | undefined): JsonDocument {
  try {
    return parseJson(bytes, accept)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw jsonInvalid(error)
  }
}

/** Accepts a body whose Content-Length is not too large. @throws {HttpError} 413 */
export function openTransfer(ctx: Pick<HttpContext, 'get' | 'res'>, announcedBytes: number, limitBytes: number): void {
  if (announcedBytes > limitBytes) throw bodyTooLarge(limitBytes)
  if (ctx.get('Expect').toLowerCase() === '100-continue') ctx.res.writeContinue()
}

/** @throws {HttpError} 415 for another content type than JSON, or a compressed body */
export function rejectOtherContent(ctx: Pick<HttpContext, 'get'>): void {
  const type = ctx.get('Content-Type')
  if (type !== '' && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new HttpError(
      httpErrors.unsupported_media_type,
      'The body must be JSON: send "Content-Type: application/json".',
    )
  }
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) {
    throw new HttpError(
      httpErrors.unsupported_media_type,
      'Compressed bodies are not supported. Send the body without Content-Encoding.',
    )
  }
}

/**
 * Keeps reading the rest of the request for a while: many clients read the answer only after they have sent everything.
 */
export function linger({ req }: Pick<HttpContext, 'req'>): void {
  const { socket } = req
  // The body is complete. The connection may already be used for the next request.
  if (req.readableEnded) return
  setImmediate(() => req.resume())
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
}

/** The error for a body that is too large. */
export function bodyTooLarge(limitBytes: number): HttpError {
  return new HttpError(httpErrors.body_too_large, `The body is larger than ${limitBytes} bytes.`)
}
