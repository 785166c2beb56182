import type Koa from 'koa'
import type { RequestLimiter } from './request-limiter.ts'
import type { RequestState } from '../context.ts'

/** Rejects requests beyond the entity's limit requests_per_minute before it reads any of their bodies. */
export function limitRequests(requestLimiter: RequestLimiter): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    await requestLimiter.take(ctx.state.caller.entity, ctx.state.limits.requestsPerMinute)
    await next()
  }
}
