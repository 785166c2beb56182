import type { RequestListener } from 'node:http'
import { Router } from '@koa/router'
import Koa from 'koa'
import { protectAnswers } from '../lib/http/protect-answers.ts'
import type { HttpMeter } from '../lib/metrics/http-meter.ts'
import { listRoutes, measureRequests } from '../lib/metrics/measure-requests.ts'
import { identifyRequests } from '../lib/http/request-id.ts'
import { logRequests } from '../lib/http/request-log.ts'
import { endStalledAnswers, type AnswerTimes } from '../lib/http/stalled-answers.ts'
import type { Idempotency } from '../lib/http/idempotency.ts'
import { routeAuditLog } from './accounts/audit-log/routes.ts'
import type { RequestState } from './accounts/context.ts'
import type { AuthDeps } from './accounts/keys/authenticate.ts'
import { requireKey } from './accounts/keys/require-key.ts'
import { routeKeys } from './accounts/keys/routes.ts'
import { routeLogin } from './accounts/sessions/login-route.ts'
import { routeSessions } from './accounts/sessions/routes.ts'
import { limitRequests } from './accounts/limits/limit-requests.ts'
import type { RequestLimiter } from './accounts/limits/request-limiter.ts'
import type { RequestMemory } from './accounts/limits/request-memory.ts'
import { routeLimits } from './accounts/limits/routes.ts'
import type { LimitDeps } from './accounts/limits/service.ts'
import { createRestApi, type RestApi } from './accounts/rest-api.ts'
import { routeUsage } from './accounts/usage/routes.ts'
import { answerErrors } from './errors/answer-errors.ts'
import { presentForClient } from './errors/present.ts'
import { rejectUnanswered } from './errors/unanswered.ts'
import { findGroup, rejectMissingGroups } from './groups.ts'
import { routeHealth, routeReadiness, routeSystemCheck } from './health/routes.ts'
import type { SystemDeps } from './health/system-check.ts'
import type { OpenGroups } from './open-groups.ts'
import { routeOpenApi } from './openapi/routes.ts'

// allowedMethods would answer any other method with 501 instead of 405.
const methods = ['HEAD', 'OPTIONS', 'GET', 'PUT', 'PATCH', 'POST', 'DELETE', 'TRACE', 'QUERY']

/** What handlers need, except the parts of groups. serve.ts creates it once. */
interface AppDeps extends AuthDeps, LimitDeps, SystemDeps {
  answerTimes: AnswerTimes
  idempotency: Idempotency
  /** Whether the database is migrated. */
  isMigrated: () => boolean
  storeTrouble: () => string | undefined
  memory: RequestMemory
  meter: HttpMeter
  requestLimiter: RequestLimiter
}

/** Creates the handler of every request. Requests for engines are answered before Koa. */
export function createApp(deps: AppDeps, groups: OpenGroups): RequestListener {
  const answer = createKoa(deps, groups).callback()
  const gateway = groups.inference?.gateway
  return (request, response) => {
    if (!gateway?.answer(request, response)) void answer(request, response)
  }
}

// Metrics, log, limits, memory and keys listen for the end of a response. Node.js warns about more than ten listeners.
const maxListeners = 20
const expectListeners: Koa.Middleware = (ctx, next) => {
  ctx.res.setMaxListeners(maxListeners)
  return next()
}

/** The public HTTP interface. Only what is registered before `requireKey` answers without a key. */
function createKoa(deps: AppDeps, groups: OpenGroups): Koa {
  const { tracing, wandb, console } = groups
  const app = new Koa()
  const router = new Router<RequestState>({ methods })
  const api = createApi(router, deps, groups)
  const open = new Router()
  // A stream was cut off. Its cause is logged where it is detected.
  app.on('error', (error) => deps.log.debug({ error }, 'answer not completed'))
  const list = () => [
    ...listRoutes(open),
    ...api.operations,
    ...(tracing?.operations ?? []),
    ...(wandb?.operations ?? []),
  ]
  app.use(expectListeners)
  app.use(measureRequests({ meter: deps.meter, groupOf: findGroup, list }))
  app.use(identifyRequests)
  app.use(logRequests(deps.log))
  app.use(endStalledAnswers(deps.answerTimes))
  app.use(protectAnswers)
  app.use(answerErrors(deps.log, presentForClient))
  app.use(deps.memory.keepWhileWorking)

  app.use(rejectUnanswered(api.operations))

  routeLogin(open, deps)
  routeHealth(open)
  routeReadiness(open, deps)
  tracing?.routeOpen(open)
  wandb?.routeOpen(open)
  routeOpenApi(open, api, tracing?.operations)
  app.use(open.routes())
  // Some of its paths begin as those of other groups.
  if (wandb) app.use(wandb.routes)
  app.use(rejectMissingGroups(groups.names))
  if (tracing) app.use(tracing.routes)
  if (console) app.use(console.serve)

  app.use(requireKey(deps))
  app.use(limitRequests(deps.requestLimiter))
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** Every operation that needs a key, one folder per resource. */
function createApi(
  router: Router<RequestState>,
  deps: AppDeps,
  { training, inference, tracing, wandb }: OpenGroups,
): RestApi {
  const api = createRestApi(router, deps)
  // Runs over REST belong to training.
  for (const group of [training, inference, tracing, training && wandb]) group?.route(api)
  routeKeys(api, deps)
  routeSessions(api, deps)
  routeAuditLog(api, deps.pool)
  routeLimits(api, deps)
  routeUsage(api, deps.pool)
  routeSystemCheck(api, deps)
  return api
}
