import type Koa from 'koa'
import type { RequestLimiter } from './request-limiter.ts'
import type { RequestState } from '../context.ts'

/** Refuses the requests of an entity beyond what it may make in a minute, before a byte of their bodies is read. */
export function limitRequests(requestLimiter: RequestLimiter): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    await requestLimiter.take(ctx.state.caller.entity, ctx.state.limits.requestsPerMinute)
    await next()
  }
}
