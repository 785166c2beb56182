import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './table.ts'
import type Koa from 'koa'
import { StoreFailed } from '../../artifacts/store/failed.ts'
import { isDatabaseUnavailable, isStatementStopped } from '../../db/unavailable.ts'
import type { Logger } from '../../lib/log.ts'
import type { PresentError } from './present.ts'

/**
 * The only error path. An HttpError is answered as it is. Any other error becomes a plain 500 and one line in the log.
 */
export function answerErrors(log: Logger, present: PresentError): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      // The client has left: nobody reads an answer.
      if (ctx.req.socket.destroyed) return
      const answered = toHttpError(error, log)
      ctx.status = answered.status
      ctx.set(answered.headers)
      ctx.body = present(answered, ctx.path)
    }
  }
}

/** Converts an error into the one for the client. */
export function toHttpError(error: unknown, log: Logger): HttpError {
  if (error instanceof HttpError) return error
  // The request was too expensive. Sending it again would not help.
  if (isStatementStopped(error)) {
    log.warn({ error }, 'statement stopped')
    return new HttpError(errors.query_timeout)
  }
  if (isDatabaseUnavailable(error)) {
    log.warn({ error }, 'database unavailable')
    return new HttpError(errors.database_unavailable, undefined, { retryAfterSeconds: 1 })
  }
  if (error instanceof StoreFailed) {
    log.warn({ error }, 'artifact store unavailable')
    return new HttpError(errors.store_unavailable, undefined, { retryAfterSeconds: 10 })
  }
  log.error({ error }, 'request failed')
  return new HttpError(errors.internal_error)
}
