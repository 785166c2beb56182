import { JsonDocument, JsonError } from '../json/document.ts'
import { findLoneSurrogate } from '../json/lone-surrogate.ts'
import { Refusal, unprocessable } from '../refusal.ts'
import type { RequestContext } from './context.ts'

/**
 * Reads a request's JSON body of at most `limitBytes`.
 *
 * @throws {Refusal} 413 when it is larger (by its announced length before anything is read), 415 for another content
 * type or a compressed body, 422 when it is no JSON
 */
export async function readJson(ctx: RequestContext, limitBytes: number): Promise<JsonDocument> {
  refuseOtherContent(ctx)
  const bytes = await readBytes(ctx, limitBytes)
  const document = parseDocument(bytes)
  const path = findLoneSurrogate(document)
  if (!path) return document
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  throw unprocessable({ loc: ['body', ...path], msg, type: 'string_unicode' })
}

function parseDocument(bytes: Uint8Array): JsonDocument {
  try {
    return JsonDocument.parse(bytes)
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

async function readBytes(ctx: RequestContext, limitBytes: number): Promise<Buffer> {
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

function tooLarge(limitBytes: number): Refusal {
  return new Refusal(413, `The body is larger than ${limitBytes} bytes.`, { Connection: 'close' })
}
