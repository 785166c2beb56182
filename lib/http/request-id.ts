import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import { logContext } from '../log-context.ts'

/** Of requests and answers. */
export const requestIdHeader = 'X-Request-Id'
// A client's id goes into the log and into a header as it is.
const plainId = /^[A-Za-z0-9._:-]{1,128}$/

/** Gives each request an id: the client's, if it is plain, or one of ours. Its answer and its lines of the log have it. */
export const identifyRequests: Koa.Middleware = (ctx, next) => {
  const requestId = chooseRequestId(ctx.get(requestIdHeader))
  ctx.set(requestIdHeader, requestId)
  return logContext.run({ requestId }, next)
}

/** The id that a client gave its request, if it is plain, or a new one. */
export function chooseRequestId(given: string): string {
  return plainId.test(given) ? given : randomUUID()
}

/** The id of a request, which its answer has. */
export function readRequestId({ response }: Pick<Koa.Context, 'response'>): string {
  return response.get(requestIdHeader)
}
