import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './table.ts'
import type Koa from 'koa'
import { unknownPath } from './unknown-path.ts'

/** Answers 404 or 405 if no handler has answered: the path or its method does not exist. */
export function rejectUnanswered(): Koa.Middleware {
  return async (ctx, next) => {
    await next()
    if (ctx.status < 400 || ctx.body) return
    if (ctx.status === 404) throw unknownPath(ctx)
    throw new HttpError(ctx.status === 501 ? errors.method_not_implemented : errors.method_not_allowed)
  }
}
