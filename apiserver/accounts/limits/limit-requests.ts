import type Koa from 'koa'
import type { RequestLimiter } from './request-limiter.ts'
import type { RequestState } from '../context.ts'

/** Rejects requests beyond the entity's limit requests_per_minute before it reads any of their bodies. */
export function limitRequests(requestLimiter: RequestLimiter): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const { entity } = ctx.state.caller
    const { requestsPerMinute } = ctx.state.limits
    try {
      await requestLimiter.take(entity, requestsPerMinute)
    } catch (error) {
      for (const [name, value] of requestLimiter.describe(entity, requestsPerMinute)) ctx.set(name, value)
      throw error
    }
    await next()
  }
}
