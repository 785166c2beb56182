import type Koa from 'koa'
import type { Logger } from '../../lib/log.ts'
import { toRefusal } from '../middleware/errors.ts'
import { TraceRefusal } from './refusals.ts'

/** The error path of the tracing group: as everywhere, in the form that its clients read. */
export function answerTraceErrors(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      // The client has left: there is nobody to tell.
      if (ctx.req.socket.destroyed) return
      const { status, detail, headers } = toRefusal(error, log)
      ctx.status = status
      ctx.set(headers)
      const more = error instanceof TraceRefusal ? error.more : {}
      ctx.body = typeof detail === 'string' ? { reason: detail, ...more } : { detail }
    }
  }
}
