import type Koa from 'koa'
import type { RequestState } from '../context.ts'
import { setLimitHeaders, type MinuteLimiters } from './limit-headers.ts'

/** Rejects requests beyond the entity's limit requests_per_minute before it reads any of their bodies. */
export function limitRequests(limiters: MinuteLimiters): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await limiters.requestLimiter.take(ctx.state.caller.entity, ctx.state.limits.requestsPerMinute)
    } catch (error) {
      setLimitHeaders(ctx, limiters)
      throw error
    }
    await next()
  }
}
