import type Koa from 'koa'
import type { Logger } from '../log.ts'
import { readRequestId } from './request-id.ts'

/** One line per request, written when the answer has gone out or the client has left. */
export function logRequests(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    const startMs = performance.now()
    ctx.res.once('close', () => {
      const fields = {
        method: ctx.method,
        path: ctx.path,
        status: ctx.status,
        requestId: readRequestId(ctx),
        ms: Math.round(performance.now() - startMs),
      }
      if (!ctx.res.writableFinished) log.info(fields, 'client left')
      else if (ctx.path.startsWith('/v1/health')) log.debug(fields, 'request')
      else log.info(fields, 'request')
    })
    await next()
  }
}
