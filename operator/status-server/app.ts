import Koa from 'koa'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import type { Logger } from '../../lib/log.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import type { HttpMeter } from '../../lib/metrics/http-meter.ts'
import { listRoutes, measureRequests } from '../../lib/metrics/measure-requests.ts'
import { identifyRequests } from '../../lib/http/request-id.ts'
import { errors } from './errors.ts'
import { createEngineRoutes, type EngineRouteDeps } from './engine-routes.ts'
import { createTrainerRoutes, type RouteDeps } from './routes.ts'
import { createDownloadRoutes, type DownloadRouteDeps } from './start-routes.ts'

interface ProbeDeps {
  /** Why this server cannot do its work; undefined if it can. */
  explainNotReady: () => Promise<string | undefined>
}

type AppDeps = RouteDeps & EngineRouteDeps & DownloadRouteDeps & ProbeDeps & { meter: HttpMeter }

/** The status server's HTTP application. `/health` and `/ready` are open to all, the other paths to trainer or engine pods. */
export function createApp(deps: AppDeps): Koa {
  const app = new Koa()
  app.silent = true
  // The last one authenticates requests for all other paths.
  const routers = [createEngineRoutes(deps), createDownloadRoutes(deps), createTrainerRoutes(deps)]
  const list = () => routers.flatMap(listRoutes)
  app.use(measureRequests({ meter: deps.meter, groupOf: () => 'pods', list }))
  app.use(identifyRequests)
  app.use(answerErrors(deps.log))
  app.use(answerProbes(deps))
  for (const router of routers) app.use(router.routes() as unknown as Koa.Middleware)
  app.use(rejectUnknownPath)
  return app
}

/** The only error path. An HttpError is answered as it is. Any other error is a plain 500 and a line in the log. */
function answerErrors(log: Logger): Koa.Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      // The client has closed the connection: nobody reads an answer.
      if (context.req.destroyed && !context.writable) return
      const { status, message, headers } = toHttpError(error)
      if (status >= 500) log.warn({ error, path: context.path }, 'request failed')
      else log.info({ status, detail: message, path: context.path }, 'request rejected')
      context.status = status
      context.set(headers)
      context.body = { detail: message }
    }
  }
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (isDatabaseUnavailable(error))
    return new HttpError(errors.database_unavailable, undefined, { retryAfterSeconds: 1 })
  return new HttpError(errors.internal_error)
}

/** /health says that the process lives, /ready whether it can do its work. */
function answerProbes({ explainNotReady }: ProbeDeps): Koa.Middleware {
  return async (context, next) => {
    if (context.method !== 'GET' || !['/health', '/ready'].includes(context.path)) {
      await next()
      return
    }
    const notReady = context.path === '/ready' ? await explainNotReady() : undefined
    context.status = notReady === undefined ? 200 : 503
    context.body = { status: 'ok', ...(notReady !== undefined && { not_ready: notReady }) }
  }
}

function rejectUnknownPath(): never {
  throw new HttpError(errors.unknown_path)
}
