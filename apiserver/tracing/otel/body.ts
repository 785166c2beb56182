import { promisify } from 'node:util'
import { gunzip, inflate, inflateRaw, type InputType, type ZlibOptions } from 'node:zlib'
import { openAnyBody } from '../../middleware/body.ts'
import type { RequestContext } from '../../middleware/context.ts'
import { Refusal } from '../../refusal.ts'
import { badRequest, tooLarge, TraceRefusal } from '../refusals.ts'
import { bodyLimitBytes } from '../trace-api.ts'

/** What a request is written in, and its answer too. */
export type OtlpFormat = 'protobuf' | 'json'

type Inflate = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>

/** The form of a request by its content type. @throws {TraceRefusal} 415 for another */
export function readFormat(ctx: RequestContext): OtlpFormat {
  const type = ctx.get('Content-Type').split(';')[0]!.trim().toLowerCase()
  if (type === 'application/x-protobuf') return 'protobuf'
  if (type === 'application/json') return 'json'
  throw new TraceRefusal(415, 'Spans come as application/x-protobuf or application/json.')
}

/** The bytes of a request, decompressed. @throws {TraceRefusal} 413 when they are too many by then, 415 for other encodings */
export async function readOtlpBody(ctx: RequestContext): Promise<Buffer> {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase()
  const chunks: Buffer[] = []
  try {
    for await (const chunk of openAnyBody(ctx, bodyLimitBytes, () => refuseEncoding(encoding))) chunks.push(chunk)
  } catch (error) {
    throw error instanceof Refusal && error.status === 413 ? tooLarge() : error
  }
  const bytes = Buffer.concat(chunks)
  const decompress = findInflate(encoding, bytes)
  return decompress ? inflateWithin(bytes, encoding, decompress) : bytes
}

async function inflateWithin(bytes: Buffer, encoding: string, decompress: Inflate): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: bodyLimitBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw badRequest(`The body is not valid ${encoding}.`)
  }
}

function refuseEncoding(encoding: string): void {
  if (!['', 'identity', 'gzip', 'deflate'].includes(encoding)) {
    throw new TraceRefusal(415, 'Bodies may be compressed with gzip or deflate.')
  }
}

function findInflate(encoding: string, bytes: Buffer): Inflate | undefined {
  if (encoding === 'gzip') return promisify<InputType, ZlibOptions, Buffer>(gunzip)
  if (encoding !== 'deflate') return undefined
  // Some senders leave out the header that zlib writes; its low four bits are 8.
  return promisify<InputType, ZlibOptions, Buffer>((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)
}
