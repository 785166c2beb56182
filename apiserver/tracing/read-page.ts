/** Which part of a list is asked for. @throws {HttpError} 400 for what is below zero */
export function readPage({ limit, offset }: { limit?: number | null; offset?: number | null }): {
  limit: number | null
  offset: number
} {
  if ((limit ?? 0) < 0) throw badRequest('limit must not be negative')
  if ((offset ?? 0) < 0) throw badRequest('offset must not be negative')
  return { limit: limit == null ? null : bound(limit), offset: bound(offset ?? 0) }
}

/** No list is longer, and the sum of two is a bigint still. */
function bound(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
import { badRequest } from './errors.ts'
