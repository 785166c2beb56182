import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import { logContext } from '../log-context.ts'

const header = 'X-Request-Id'
// A client's id goes into the log and into a header as it is.
const plainId = /^[A-Za-z0-9._:-]{1,128}$/

/** Gives each request an id: the client's, if it is plain, or one of ours. Its answer and its lines of the log have it. */
export const identifyRequests: Koa.Middleware = (ctx, next) => {
  const given = ctx.get(header)
  const requestId = plainId.test(given) ? given : randomUUID()
  ctx.set(header, requestId)
  return logContext.run({ requestId }, next)
}

/** The id of a request, which its answer has. */
export function readRequestId({ response }: Pick<Koa.Context, 'response'>): string {
  return response.get(header)
}
