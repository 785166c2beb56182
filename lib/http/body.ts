import { HttpError, unprocessable } from './http-error.ts'
import { httpErrors } from './errors.ts'
import { parseJson, type AcceptOutline, type JsonDocument } from '../json/document.ts'
import { findLoneSurrogate } from '../json/lone-surrogate.ts'
import { JsonError } from '../json/parse.ts'
import type { HttpContext } from './context.ts'

// For an answer to reach a client that does nothing but send.
const lingerMs = 2_000

/**
 * The chunks of a request's JSON body of at most `limitBytes`, as they come in. Nothing is read before the first is
 * asked for.
 *
 * @throws {HttpError} 413 when it is larger (by its announced length at once), 415 for another content type or a compressed
 * body
 */
export function openBody(ctx: HttpContext, limitBytes: number): AsyncIterable<Buffer> {
  return openAnyBody(ctx, limitBytes, rejectOtherContent)
}

/** The same for a body whose type and encoding `checkContent` accepts. */
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
    // The end of the iteration must not end the connection: an answer is to go out.
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

/** @throws {HttpError} 422 when the bytes are no JSON, or hold texts that no UTF-8 can hold; and what `accept` throws */
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
export function jsonInvalid({ message }: JsonError): HttpError {
  return unprocessable({ loc: ['body'], msg: `JSON decode error: ${message}`, type: 'json_invalid' })
}

function parseDocument(bytes: Uint8Array, accept: AcceptOutline | undefined): JsonDocument {
  try {
    return parseJson(bytes, accept)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw jsonInvalid(error)
  }
}

/** Lets a body come in whose announced length is not too large. @throws {HttpError} 413 */
export function openTransfer(ctx: Pick<HttpContext, 'get' | 'res'>, announcedBytes: number, limitBytes: number): void {
  if (announcedBytes > limitBytes) throw bodyTooLarge(limitBytes)
  if (ctx.get('Expect').toLowerCase() === '100-continue') ctx.res.writeContinue()
}

/** @throws {HttpError} 415 for another content type than JSON's, or a compressed body */
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

/** Takes what the client still sends for a while: many read no answer before they have sent everything. */
export function linger({ req }: Pick<HttpContext, 'req'>): void {
  const { socket } = req
  // It has, and the connection may be in use for its next request already.
  if (req.readableEnded) return
  setImmediate(() => req.resume())
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
}

/** The error for a body that is too large. */
export function bodyTooLarge(limitBytes: number): HttpError {
  return new HttpError(httpErrors.body_too_large, `The body is larger than ${limitBytes} bytes.`)
}
