import type Koa from 'koa'
import { isDatabaseUnavailable } from '../db/unavailable.ts'
import { StoreFailed } from '../artifacts/store/failed.ts'
import type { Logger } from '../lib/log.ts'
import { HttpError, unavailable } from '../lib/http/http-error.ts'
import { describeUnknownPath } from './unknown-path.ts'

/** The one error path: refusals are told, everything unexpected becomes a plain 500 and one log line. */
export function answerErrors(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next()
      if (ctx.status >= 400 && !ctx.body) answer(ctx, refuseUnknown(ctx))
    } catch (error) {
      // The client has left: there is nobody to tell.
      if (ctx.req.socket.destroyed) return
      answer(ctx, toRefusal(error, log))
    }
  }
}

/** Nobody has answered: there is no such path, or no such method of one. */
function refuseUnknown(ctx: Koa.Context): HttpError {
  return ctx.status === 404
    ? new HttpError(404, describeUnknownPath(ctx))
    : new HttpError(ctx.status, ctx.response.message)
}

function answer(ctx: Koa.Context, refusal: HttpError): void {
  ctx.status = refusal.status
  ctx.set(refusal.headers)
  ctx.body = { detail: refusal.detail }
}

/** What a client is told of an error. */
export function toRefusal(error: unknown, log: Logger): HttpError {
  if (error instanceof HttpError) return error
  if (isDatabaseUnavailable(error)) {
    log.warn({ error }, 'database unavailable')
    return unavailable('The database is not available at the moment.', 1)
  }
  if (error instanceof StoreFailed) {
    log.warn({ error }, 'artifact store unavailable')
    return unavailable('The artifact store is not available at the moment.', 10)
  }
  log.error({ error }, 'request failed')
  return new HttpError(500, 'Internal server error')
}
