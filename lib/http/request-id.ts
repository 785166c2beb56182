import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import { runRequest } from '../request-scope.ts'

/** A header of requests and responses. */
export const requestIdHeader = 'X-Request-Id'
// A client's id goes into the log and into a header unchanged.
const plainId = /^[A-Za-z0-9._:-]{1,128}$/

/**
 * Gives each request an id: the client's, if it is plain, or a new one. The response and the request's log lines have
 * it.
 */
export const identifyRequests: Koa.Middleware = (ctx, next) => {
  const given = ctx.get(requestIdHeader)
  const requestId = plainId.test(given) ? given : randomUUID()
  ctx.set(requestIdHeader, requestId)
  return runRequest(requestId, next)
}

/** Reads the id of a request from its response. */
export function readRequestId({ response }: Pick<Koa.Context, 'response'>): string {
  return response.get(requestIdHeader)
}
