import type { RequestContext } from '../context.ts'
import type { RequestLimiter } from './request-limiter.ts'
import type { TokenLimiter } from './token-limiter.ts'

/** What knows the remaining limits. */
export interface MinuteLimiters {
  requestLimiter: RequestLimiter
  tokenLimiter: TokenLimiter
}

/** Sets headers with the remaining limits, in the form that OpenAI's clients expect. */
export function setLimitHeaders(ctx: RequestContext, { requestLimiter, tokenLimiter }: MinuteLimiters): void {
  const { caller, limits } = ctx.state
  for (const [name, value] of requestLimiter.describe(caller.entity, limits.requestsPerMinute)) ctx.set(name, value)
  for (const [name, value] of tokenLimiter.describe(caller)) ctx.set(name, value)
}
