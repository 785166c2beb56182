import type Koa from 'koa'
import type { RequestContext, RequestState } from '../context.ts'
import type { MinutePoints } from './minute-points.ts'
import type { TokenLimiter } from './token-limiter.ts'

/** What knows the remaining limits. */
export interface MinuteLimiters {
  requestLimiter: MinutePoints
  tokenLimiter: TokenLimiter
}

/**
 * Rejects requests beyond the entity's limit requests_per_minute before it reads any of their bodies. All errors have
 * the headers of `setLimitHeaders`.
 */
export function limitRequests(limiters: MinuteLimiters): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const { caller, limits } = ctx.state
    try {
      await limiters.requestLimiter.take(caller.entity, limits.requestsPerMinute, 1)
      await next()
    } catch (error) {
      setLimitHeaders(ctx, limiters)
      throw error
    }
  }
}

/** Sets headers with the remaining limits, in the form that OpenAI's clients expect. A limit that is not set has none. */
export function setLimitHeaders(
  ctx: Pick<RequestContext, 'set' | 'state'>,
  { requestLimiter, tokenLimiter }: MinuteLimiters,
): void {
  const { caller, limits } = ctx.state
  setHeaders(ctx, 'requests', limits.requestsPerMinute, requestLimiter.look(caller.entity, limits.requestsPerMinute))
  setHeaders(ctx, 'tokens', caller.tokensPerMinute, tokenLimiter.look(caller))
}

function setHeaders(
  ctx: Pick<RequestContext, 'set'>,
  kind: 'requests' | 'tokens',
  perMinute: number,
  { remaining, resetMs }: { remaining: number; resetMs: number },
): void {
  if (perMinute === Infinity) return
  ctx.set(`x-ratelimit-limit-${kind}`, String(perMinute))
  ctx.set(`x-ratelimit-remaining-${kind}`, String(remaining))
  ctx.set(`x-ratelimit-reset-${kind}`, presentDuration(resetMs))
}

/** OpenAI's format: "850ms", "42s". */
function presentDuration(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)}ms` : `${Math.ceil(ms / 1_000)}s`
}
