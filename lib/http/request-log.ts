import type Koa from 'koa'
import type { Logger } from '../log.ts'
import { readRequestId } from './request-id.ts'

// Asked every few seconds.
const probes: ReadonlySet<string> = new Set(['/v1/health', '/v1/ready'])

/** Writes one line per request, when the answer was sent or the client has left. */
export function logRequests(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    const startMs = performance.now()
    ctx.res.once('close', () => {
      const { method, path } = ctx
      const { statusCode: status, writableFinished } = ctx.res
      const fields = {
        method,
        path,
        requestId: readRequestId(ctx),
        status,
        ms: Math.round(performance.now() - startMs),
      }
      if (!writableFinished) log.info(fields, 'client left')
      else if (probes.has(path)) log.debug(fields, 'request')
      else log.info(fields, 'request')
    })
    await next()
  }
}
