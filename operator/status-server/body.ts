import type { ReadBody } from '../../lib/http/api.ts'
import { openAnyBody } from '../../lib/http/body.ts'
import type { HttpContext } from '../../lib/http/context.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './errors.ts'

/** Reports are numbers and short sentences. Payloads and weights go directly between pod and store. */
const defaultBytes = 1024 * 1024

/**
 * Reads a request's JSON body with any Content-Type. An empty body is `{}`.
 *
 * @throws {HttpError} 413 above `maxBytes`, 422 if it is not JSON
 */
export async function readJson(ctx: HttpContext, maxBytes = defaultBytes): Promise<ReadBody> {
  const chunks: Buffer[] = []
  for await (const chunk of openAnyBody(ctx, maxBytes, () => {})) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  return { value: bytes.length === 0 ? {} : parseJson(bytes), bytes }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), storableValue)
  } catch (cause) {
    throw new HttpError(errors.invalid_request, 'the body is not JSON', { cause })
  }
}

/** Postgres stores neither NUL characters nor unpaired surrogates. An error message may contain both. */
function storableValue(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value
}
