import type Koa from 'koa'
import { isStatementStopped } from '../../db/unavailable.ts'
import type { Logger } from '../../lib/log.ts'
import { toRefusal } from '../answer-errors.ts'
import type { HttpError } from '../../lib/http/http-error.ts'
import { tookTooLong, TraceRefusal } from './refusals.ts'

/** The error path of the tracing group: as everywhere, in the form that its clients read. */
export function answerTraceErrors(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      // The client has left: there is nobody to tell.
      if (ctx.req.socket.destroyed) return
      const { status, detail, headers } = toTraceRefusal(error, log)
      ctx.status = status
      ctx.set(headers)
      const more = error instanceof TraceRefusal ? error.more : {}
      ctx.body = typeof detail === 'string' ? { reason: detail, ...more } : { detail }
    }
  }
}

/** Here people ask for what they like: a statement that is stopped is a question that is too large, and no outage. */
function toTraceRefusal(error: unknown, log: Logger): HttpError {
  if (!isStatementStopped(error)) return toRefusal(error, log)
  log.warn({ error }, 'statement stopped')
  return tookTooLong()
}
