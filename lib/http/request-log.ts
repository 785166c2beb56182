import type { ServerResponse } from 'node:http'
import type Koa from 'koa'
import type { Logger } from '../log.ts'
import { readRequestId } from './request-id.ts'

// Asked every few seconds.
const probes: ReadonlySet<string> = new Set(['/v1/health', '/v1/ready'])

/** The fields of a request in the log. */
export interface LoggedRequest {
  method: string
  path: string
  requestId: string
  /** When it arrived, by `performance.now()`. */
  startMs: number
}

/** Writes one line per request, when the answer was sent or the client has left. */
export function logRequests(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    const startMs = performance.now()
    ctx.res.once('close', () => {
      const { method, path } = ctx
      logRequest(log, { method, path, requestId: readRequestId(ctx), startMs }, ctx.res)
    })
    await next()
  }
}

/** Writes the line of a request whose answer was sent, or whose client has left. */
export function logRequest(log: Logger, { startMs, ...request }: LoggedRequest, response: ServerResponse): void {
  const { statusCode: status, writableFinished } = response
  const fields = { ...request, status, ms: Math.round(performance.now() - startMs) }
  if (!writableFinished) log.info(fields, 'client left')
  else if (probes.has(request.path)) log.debug(fields, 'request')
  else log.info(fields, 'request')
}
