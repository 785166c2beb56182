import { HttpError } from './http-error.ts'
import { httpErrors } from './errors.ts'
import type { Readable } from 'node:stream'
import type { HttpContext } from './context.ts'
import { readRange, type ByteRange } from './ranges.ts'

/** A stored file for a client. Its bytes never change. */
export interface SentFile {
  /** Its path. A browser saves it under the last segment. */
  name: string
  type: string
  size: number
  /** The SHA-256 of its bytes in hex, which is also its ETag. */
  digest: string
  open: (range?: ByteRange) => Promise<Readable>
}

/**
 * Sends a file, or the requested range of it. An interrupted download can continue with Range, safely with If-Range.
 *
 * @throws {HttpError} 416 for a range behind the end, and the errors of opening the file
 */
export async function sendFile(ctx: HttpContext, file: SentFile): Promise<void> {
  const etag = `"${file.digest}"`
  ctx.set({ ETag: etag, 'Accept-Ranges': 'bytes', 'Cache-Control': 'private, no-cache' })
  if (listsTag(ctx.get('If-None-Match'), etag)) {
    ctx.status = 304
    return
  }
  const condition = ctx.get('If-Range')
  const range = condition === '' || condition === etag ? readRange(ctx.get('Range'), file.size) : 'whole'
  if (range === 'outside') {
    throw new HttpError(httpErrors.range_not_satisfiable, `The file has ${file.size} bytes.`, {
      headers: { 'Content-Range': `bytes */${file.size}` },
    })
  }
  const length = range === 'whole' ? file.size : range.end - range.start + 1
  ctx.body = ctx.method === 'HEAD' || length === 0 ? '' : await file.open(range === 'whole' ? undefined : range)
  ctx.status = range === 'whole' ? 200 : 206
  if (range !== 'whole') ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${file.size}`)
  ctx.attachment(file.name)
  ctx.set('Content-Type', file.type)
  ctx.length = length
}

function listsTag(header: string, etag: string): boolean {
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
