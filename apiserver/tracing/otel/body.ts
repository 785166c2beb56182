import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { badRequest, tooLarge } from '../errors.ts'
import type { Transform } from 'node:stream'
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { openAnyBody } from '../../../lib/http/body.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { bodyLimitBytes } from '../trace-api.ts'

/** The format of a request and of its response. */
export type OtlpFormat = 'protobuf' | 'json'

const inflatedBytesAtOnce = 256 * 1024

/** Reads the format from the content type. @throws {HttpError} 415 for another content type */
export function readFormat(ctx: RequestContext): OtlpFormat {
  const type = ctx.get('Content-Type').split(';')[0]!.trim().toLowerCase()
  if (type === 'application/x-protobuf') return 'protobuf'
  if (type === 'application/json') return 'json'
  throw new HttpError(errors.unsupported_media_type, 'Send spans as application/x-protobuf or application/json.')
}

/**
 * Reads and decompresses a body. @throws {HttpError} 413 when it is too large after decompression, 415 for other
 * encodings
 */
export async function readOtlpBody(held: RequestReservation, ctx: RequestContext): Promise<Buffer> {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase()
  try {
    const bytes = await held.read(openAnyBody(ctx, bodyLimitBytes, () => rejectUnknownEncoding(encoding)))
    const inflater = openInflater(encoding, bytes)
    if (!inflater) return bytes
    const inflated = await held.read(inflate(bytes, encoding, inflater))
    held.drop(bytes.length)
    return inflated
  } catch (error) {
    throw error instanceof HttpError && error.status === 413 ? tooLarge() : error
  }
}

/** Decompresses on demand: nothing is inflated before the reader asks for it. */
async function* inflate(bytes: Buffer, encoding: string, inflater: Transform): AsyncGenerator<Buffer> {
  let size = 0
  inflater.end(bytes)
  try {
    for await (const chunk of inflater as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > bodyLimitBytes) throw tooLarge()
      yield chunk
    }
  } catch (error) {
    throw error instanceof HttpError ? error : badRequest(`The body is not valid ${encoding}.`)
  }
}

function rejectUnknownEncoding(encoding: string): void {
  if (!['', 'identity', 'gzip', 'deflate'].includes(encoding)) {
    throw new HttpError(errors.unsupported_media_type, 'Only gzip and deflate are supported as compression.')
  }
}

function openInflater(encoding: string, bytes: Buffer): Transform | undefined {
  const options = { chunkSize: inflatedBytesAtOnce }
  if (encoding === 'gzip') return createGunzip(options)
  if (encoding !== 'deflate') return undefined
  // Some senders omit the zlib header. The low four bits of that header are 8.
  return (bytes[0]! & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)
}
