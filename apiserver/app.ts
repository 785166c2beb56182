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
import { limitRequests } from './accounts/limits/limit-requests.ts'
import type { MinuteLimiters } from './accounts/limits/limit-requests.ts'
import { routeLimits } from './accounts/limits/routes.ts'
import type { LimitDeps } from './accounts/limits/service.ts'
import { createRestApi, type ApiDeps, type RestApi } from './accounts/rest-api.ts'
import { routeLogin } from './accounts/sessions/login-route.ts'
import { routeSessions } from './accounts/sessions/routes.ts'
import { routeUsage } from './accounts/usage/routes.ts'
import type { Config } from './config.ts'
import type { Console } from './console/open-console.ts'
import { answerErrors } from './errors/answer-errors.ts'
import { presentForClient } from './errors/present.ts'
import { rejectUnanswered } from './errors/unanswered.ts'
import { findGroup, readGroups, rejectMissingGroups, type Groups } from './groups.ts'
import { routeHealth, routeReadiness, routeSystemCheck } from './health/routes.ts'
import type { SystemDeps } from './health/system-check.ts'
import type { openInference, Inference } from './inference/open-inference.ts'
import { routeOpenApi } from './openapi/routes.ts'
import type { ChatRecorder } from './tracing/chats/chat-recorder.ts'
import type { openTracing, Tracing } from './tracing/open-tracing.ts'
import type { openTraceWriting, TraceWriting } from './tracing/open-writing.ts'
import type { openTraining, Training } from './training/open-training.ts'
import type { openWandb, Wandb } from './wandb/open-wandb.ts'

// allowedMethods would answer any other method with 501 instead of 405.
const methods = ['HEAD', 'OPTIONS', 'GET', 'PUT', 'PATCH', 'POST', 'DELETE', 'TRACE', 'QUERY']

/** What handlers need, except the parts of groups. serve.ts creates it once. */
interface AppDeps extends ApiDeps, AuthDeps, LimitDeps, MinuteLimiters, SystemDeps {
  answerTimes: AnswerTimes
  idempotency: Idempotency
  /** Whether the database is migrated. */
  isMigrated: () => boolean
  storeTrouble: () => string | undefined
  meter: HttpMeter
}

// Metrics, log, limits, memory and keys listen for the end of a response. Node.js warns about more than ten listeners.
const maxListeners = 20
const expectListeners: Koa.Middleware = (ctx, next) => {
  ctx.res.setMaxListeners(maxListeners)
  return next()
}

/** The public HTTP interface. Only what is registered before `requireKey` answers without a key. */
export function createApp(deps: AppDeps, groups: OpenGroups): RequestListener {
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

  app.use(rejectUnanswered())

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
  app.use(limitRequests(deps))
  app.use(router.routes())
  app.use(router.allowedMethods())
  const answer = app.callback()
  return (request, response) => void answer(request, response)
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

/** The parts that groups share. Each group declares which of them it needs. */
type GroupDeps = Parameters<typeof openTraining>[1] &
  Parameters<typeof openTraceWriting>[0] &
  Omit<Parameters<typeof openInference>[1], 'traces'> &
  Omit<Parameters<typeof openTracing>[0], 'gateway' | 'writing'> &
  Omit<Parameters<typeof openWandb>[0], 'traceProjects' | 'hasTraining'>

/** The groups that a server has. */
export interface OpenGroups {
  names: Groups
  training: Training | undefined
  inference: Inference | undefined
  tracing: Tracing | undefined
  /** What the wandb SDK speaks. It belongs to training and tracing, and has the subjects of those that are served. */
  wandb: Wandb | undefined
  console: Console | undefined
  /** Records chats of the inference group. The shutdown waits for its end after the last answer. */
  chats: ChatRecorder | undefined
}

/** Loads and opens the groups that the configuration names. The code of other groups is not loaded. @throws {ConfigError} */
export async function openGroups(config: Config, shared: GroupDeps): Promise<OpenGroups> {
  const names = readGroups(config.TRAINYARD_GROUPS)
  const traces = names.has('inference') || names.has('tracing') ? await loadTraceWriting(shared) : undefined
  const inference = names.has('inference') && traces ? await loadInference(config, shared, traces) : undefined
  const tracing = names.has('tracing') && traces ? await loadTracing(shared, traces, inference) : undefined
  const training = names.has('training') ? await loadTraining(config, shared) : undefined
  const wandb = training || tracing ? await loadWandb(shared, tracing && traces, training !== undefined) : undefined
  const console = names.has('console') ? await loadConsole(config) : undefined
  return { names, training, inference, tracing, wandb, console, chats: traces?.chats }
}

async function loadTraining(config: Config, shared: GroupDeps): Promise<Training> {
  const { openTraining } = await import('./training/open-training.ts')
  return openTraining(config, shared)
}

async function loadConsole(config: Config): Promise<Console> {
  const { openConsole } = await import('./console/open-console.ts')
  return openConsole(config.TRAINYARD_CONSOLE_FOLDER)
}

async function loadTraceWriting(shared: GroupDeps): Promise<TraceWriting> {
  const { openTraceWriting } = await import('./tracing/open-writing.ts')
  return openTraceWriting(shared)
}

async function loadInference(config: Config, shared: GroupDeps, { chats }: TraceWriting): Promise<Inference> {
  const { openInference } = await import('./inference/open-inference.ts')
  return openInference(config, { ...shared, traces: chats })
}

async function loadTracing(
  shared: GroupDeps,
  { writing }: TraceWriting,
  inference: Inference | undefined,
): Promise<Tracing> {
  const { openTracing } = await import('./tracing/open-tracing.ts')
  return openTracing({ ...shared, writing, gateway: inference?.deps })
}

async function loadWandb(shared: GroupDeps, traces: TraceWriting | undefined, hasTraining: boolean): Promise<Wandb> {
  const { openWandb } = await import('./wandb/open-wandb.ts')
  return openWandb({ ...shared, traceProjects: traces?.writing.projects, hasTraining })
}
