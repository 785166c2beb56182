import type { HttpContext } from './context.ts'

/** Whether the client says that this is a retry, because it lost the first answer. */
export function isRetry(ctx: HttpContext): boolean {
  return /^[1-9]\d*$/.test(ctx.get('x-stainless-retry-count'))
}
