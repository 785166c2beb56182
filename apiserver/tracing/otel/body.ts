import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { badRequest, tooLarge } from '../errors.ts'
import type { Transform } from 'node:stream'
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { openAnyBody } from '../../../lib/http/body.ts'
import type { RequestContext } from '../../accounts/context.ts'
import type { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { bodyLimitBytes } from '../trace-api.ts'

/** What a request is written in, and its answer too. */
export type OtlpFormat = 'protobuf' | 'json'

const inflatedBytesAtOnce = 256 * 1024

/** The form of a request by its content type. @throws {HttpError} 415 for another */
export function readFormat(ctx: RequestContext): OtlpFormat {
  const type = ctx.get('Content-Type').split(';')[0]!.trim().toLowerCase()
  if (type === 'application/x-protobuf') return 'protobuf'
  if (type === 'application/json') return 'json'
  throw new HttpError(errors.unsupported_media_type, 'Send spans as application/x-protobuf or application/json.')
}

/** The bytes of a request, decompressed. @throws {HttpError} 413 when they are too many by then, 415 for other encodings */
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

/** The decompressed bytes, as they are asked for: nothing is inflated beyond what is taken. */
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
  // Some senders leave out the header that zlib writes; its low four bits are 8.
  return (bytes[0]! & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)
}
