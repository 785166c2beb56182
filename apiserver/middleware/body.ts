import { JsonError, parseJson, type JsonDocument } from '../json/document.ts'
import { findLoneSurrogate } from '../json/lone-surrogate.ts'
import { Refusal, unprocessable } from '../refusal.ts'
import type { RequestContext } from './context.ts'

/** Reads and parses a request's JSON body; see `readBody` and `parseBody`. */
export async function readJson(ctx: RequestContext, limitBytes: number): Promise<JsonDocument> {
  return parseBody(await readBody(ctx, limitBytes))
}

/**
 * Reads a request's JSON body of at most `limitBytes`.
 *
 * @throws {Refusal} 413 when it is larger (by its announced length before anything is read), 415 for another content
 * type or a compressed body
 */
export async function readBody(ctx: RequestContext, limitBytes: number): Promise<Buffer> {
  refuseOtherContent(ctx)
  if ((ctx.request.length ?? 0) > limitBytes) throw tooLarge(limitBytes)
  if (ctx.get('Expect').toLowerCase() === '100-continue') ctx.res.writeContinue()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limitBytes) throw tooLarge(limitBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** @throws {Refusal} 422 when the bytes are no JSON, or hold texts that no UTF-8 can hold */
export function parseBody(bytes: Uint8Array): JsonDocument {
  const document = parseDocument(bytes)
  const path = findLoneSurrogate(document)
  if (!path) return document
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  throw unprocessable({ loc: ['body', ...path], msg, type: 'string_unicode' })
}

function parseDocument(bytes: Uint8Array): JsonDocument {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw unprocessable({ loc: ['body'], msg: `JSON decode error: ${error.message}`, type: 'json_invalid' })
  }
}

function refuseOtherContent(ctx: RequestContext): void {
  const type = ctx.get('Content-Type')
  if (type !== '' && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new Refusal(415, 'The body must be JSON: send "Content-Type: application/json".')
  }
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) {
    throw new Refusal(415, 'Compressed bodies are not taken.')
  }
}

function tooLarge(limitBytes: number): Refusal {
  return new Refusal(413, `The body is larger than ${limitBytes} bytes.`, { Connection: 'close' })
}
