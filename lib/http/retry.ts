import type { HttpContext } from './context.ts'

/** Whether the client says that it sends a request again, because it lost the answer to the first. */
export function isRetry(ctx: HttpContext): boolean {
  return /^[1-9]\d*$/.test(ctx.get('x-stainless-retry-count'))
}
