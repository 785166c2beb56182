/** Reads limit and offset of a list. @throws {HttpError} 400 for negative numbers */
export function readPage({ limit, offset }: { limit?: number | null; offset?: number | null }): {
  limit: number | null
  offset: number
} {
  if ((limit ?? 0) < 0) throw badRequest('limit must not be negative')
  if ((offset ?? 0) < 0) throw badRequest('offset must not be negative')
  return { limit: limit == null ? null : bound(limit), offset: bound(offset ?? 0) }
}

/** No list is longer. The sum of two such numbers still fits into a bigint column. */
function bound(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
import { badRequest } from './errors.ts'
