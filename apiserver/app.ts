import type { RequestListener } from 'node:http'
import { Router } from '@koa/router'
import Koa from 'koa'
import { routeAuditLog } from './accounts/audit-log/routes.ts'
import type { ChatTraces } from './inference/chat-traces.ts'
import { Gateway, type GatewayDeps } from './inference/gateway.ts'
import { routeResponses } from './inference/responses/routes.ts'
import { passthroughs, routeGateway } from './inference/routes.ts'
import { routeHealth, routeReadiness, routeSystemCheck } from './health/routes.ts'
import { createRestApi, type RestApi } from './accounts/rest-api.ts'
import { routeKeys } from './accounts/keys/routes.ts'
import { requireKey } from './accounts/keys/require-key.ts'
import type { RequestState } from './accounts/context.ts'
import { routeLimits } from './accounts/limits/routes.ts'
import { answerErrors } from './errors/answer-errors.ts'
import { presentForClient } from './errors/present.ts'
import { rejectUnanswered } from './errors/unanswered.ts'
import { limitRequests } from './accounts/limits/limit-requests.ts'
import { protectAnswers } from '../lib/http/protect-answers.ts'
import { identifyRequests } from '../lib/http/request-id.ts'
import { logRequests } from '../lib/http/request-log.ts'
import { endStalledAnswers } from '../lib/http/stalled-answers.ts'
import { routeOpenApi } from './openapi/routes.ts'
import { routeArtifacts } from './training/artifacts/routes.ts'
import { routeAliases } from './training/aliases/routes.ts'
import { routeDownloads } from './training/checkpoints/download-routes.ts'
import { routeCheckpoints } from './training/checkpoints/routes.ts'
import { routeErasures } from './training/erasures/routes.ts'
import { routeModels } from './training/models/routes.ts'
import { routeRetention } from './training/models/retention-routes.ts'
import { routeSftTrainingJobs } from './training/sft-training-jobs/routes.ts'
import { routeTrainingJobs, type TrainingJobDeps } from './training/training-jobs/routes.ts'
import { routeLogs } from './training/trajectory-logs/routes.ts'
import { routeTrajectories } from './training/trajectories/routes.ts'
import { routeWebhooks } from './training/webhooks/routes.ts'
import { routeTraceRetention, type TraceRetentionDeps } from './tracing/retention/routes.ts'
import type { ChatRecorder } from './tracing/chats/chat-recorder.ts'
import { createTracing, type Tracing, type TracingDeps } from './tracing/routes.ts'
import { routeTraceHealth } from './tracing/server-info/routes.ts'
import type { SystemDeps } from './health/system-check.ts'
import type { ArtifactDeps } from './training/artifacts/store-files.ts'
import type { CheckpointDeps } from './training/checkpoints/service.ts'
import type { ErasureDeps } from './training/erasures/service.ts'
import type { ForkDeps } from './training/models/fork.ts'
import type { ModelDeps } from './training/models/service.ts'
import type { SftJobDeps } from './training/sft-training-jobs/service.ts'
import type { TrajectoryDeps } from './training/trajectories/service.ts'
import type { WebhookDeps } from './training/webhooks/service.ts'
import type { LimitDeps } from './accounts/limits/service.ts'
import { routeUsage } from './accounts/usage/routes.ts'

// allowedMethods would answer any other method with 501 instead of 405.
const methods = ['HEAD', 'OPTIONS', 'GET', 'PUT', 'PATCH', 'POST', 'DELETE', 'TRACE', 'QUERY']

// Proxies and users give up sooner. A connection that is not slow transfers a megabyte in a second.
const answerTimes = { stallMs: 60_000, minBytesPerSecond: 1024 * 1024 }

/** What handlers need. serve.ts creates it once. */
interface AppDeps
  extends
    ArtifactDeps,
    CheckpointDeps,
    ErasureDeps,
    ForkDeps,
    GatewayDeps,
    LimitDeps,
    ModelDeps,
    SftJobDeps,
    SystemDeps,
    TraceRetentionDeps,
    TracingDeps,
    TrainingJobDeps,
    TrajectoryDeps,
    WebhookDeps {
  /** Whether the database is migrated. */
  isMigrated: () => boolean
}

/** Answers every request. */
export interface App {
  listener: RequestListener
  /** The shutdown waits for its end after the last answer. */
  chats: ChatRecorder
}

/** Creates the handler of every request. Requests for engines are answered before Koa. */
export function createApp(deps: AppDeps): App {
  const tracing = createTracing(deps)
  const { chats } = tracing
  const answer = createKoa(deps, tracing).callback()
  const gateway = new Gateway({ ...deps, traces: chats }, passthroughs, answerTimes)
  const listener: RequestListener = (request, response) => {
    if (!gateway.answer(request, response)) void answer(request, response)
  }
  return { listener, chats }
}

/** The public HTTP interface. Only what is registered before `requireKey` answers without a key. */
function createKoa(deps: AppDeps, tracing: Tracing): Koa {
  const app = new Koa()
  // A stream was cut off. Its cause is logged where it is detected.
  app.on('error', (error) => deps.log.debug({ error }, 'answer not completed'))
  app.use(identifyRequests)
  app.use(logRequests(deps.log))
  app.use(endStalledAnswers(answerTimes))
  app.use(protectAnswers)
  app.use(answerErrors(deps.log, presentForClient))
  app.use(deps.memory.keepWhileWorking)

  const router = new Router<RequestState>({ methods })
  const api = createApi(router, { ...deps, traces: tracing.chats })
  app.use(rejectUnanswered(api.operations))

  const open = new Router()
  routeHealth(open)
  routeReadiness(open, deps.isMigrated)
  routeTraceHealth(open)
  routeOpenApi(open, api, tracing.operations)
  app.use(open.routes())
  app.use(tracing.routes)

  app.use(requireKey(deps))
  app.use(limitRequests(deps.requestLimiter))
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** Every operation that needs a key, one folder per resource. */
function createApi(router: Router<RequestState>, deps: AppDeps & { traces: ChatTraces }): RestApi {
  const api = createRestApi(router, deps)
  routeModels(api, deps)
  routeRetention(api, deps.pool)
  routeAliases(api, deps.pool)
  routeCheckpoints(api, deps)
  routeDownloads(api, deps)
  routeErasures(api, deps)
  routeArtifacts(api, deps)
  routeTrainingJobs(api, deps)
  routeSftTrainingJobs(api, deps)
  routeGateway(api, deps.pool)
  routeResponses(api, deps)
  routeKeys(api, deps.pool)
  routeAuditLog(api, deps.pool)
  routeLimits(api, deps)
  routeUsage(api, deps.pool)
  routeWebhooks(api, deps)
  routeLogs(api, deps)
  routeTrajectories(api, deps)
  routeTraceRetention(api, deps)
  routeSystemCheck(api, deps)
  return api
}
