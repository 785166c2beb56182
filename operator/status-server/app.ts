import Koa from 'koa'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import type { Logger } from '../../lib/log.ts'
import { Problem } from './problem.ts'
import { createTrainerRoutes, type RouteDeps } from './routes.ts'

/** The status server's HTTP application: `/health` for everybody, the rest for trainer pods. */
export function createApp(deps: RouteDeps): Koa {
  const app = new Koa()
  app.silent = true
  const trainerRoutes = createTrainerRoutes(deps)
  app.use(answerErrors(deps.log))
  app.use(answerHealth)
  app.use(trainerRoutes.routes() as unknown as Koa.Middleware)
  app.use(refuseUnknown)
  return app
}

/** The one error path: problems are told, a missing database is 503, everything unexpected a plain 500 and a log line. */
function answerErrors(log: Logger): Koa.Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      // The client left while its body was read or while it waited: nobody reads an answer.
      if (context.req.destroyed && !context.writable) return
      const problem = toProblem(error)
      if (problem.status >= 500) log.warn({ error, path: context.path }, 'request failed')
      else log.info({ status: problem.status, detail: problem.message, path: context.path }, 'request refused')
      answer(context, problem)
    }
  }
}

function answer(context: Koa.Context, problem: { status: number; message: string }): void {
  context.status = problem.status
  context.body = { detail: problem.message }
  if (problem.status === 401) context.set('WWW-Authenticate', 'Bearer')
  if (problem.status === 503) context.set('Retry-After', '1')
  // What is left of the body is not read.
  if (problem.status === 413) context.set('Connection', 'close')
}

function toProblem(error: unknown): { status: number; message: string } {
  if (error instanceof Problem) return error
  if (isDatabaseUnavailable(error)) return new Problem(503, 'the database is not available now: try again')
  return { status: 500, message: 'internal error' }
}

async function answerHealth(context: Koa.Context, next: Koa.Next): Promise<void> {
  if (context.method !== 'GET' || context.path !== '/health') return next()
  context.body = { status: 'ok' }
}

function refuseUnknown(): never {
  throw new Problem(404, 'no such route')
}
