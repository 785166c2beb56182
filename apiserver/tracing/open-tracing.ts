import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
import { Router } from '@koa/router'
import type Koa from 'koa'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { WorkerPool } from '../../lib/worker-threads/pool.ts'
import type { PlacedOperation } from '../../lib/http/operation.ts'
import type { AuthDeps } from '../accounts/keys/authenticate.ts'
import type { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import type { RestApi } from '../accounts/rest-api.ts'
import { requireKey } from '../accounts/keys/require-key.ts'
import type { RequestState } from '../accounts/context.ts'
import { limitRequests } from '../accounts/limits/limit-requests.ts'
import { answerErrors } from '../errors/answer-errors.ts'
import { presentReason } from '../errors/present.ts'
import { unknownPath } from '../errors/unknown-path.ts'
import { readTraceKey } from './auth.ts'
import { routeCallStatistics } from './call-statistics/routes.ts'
import { routeCalls } from './calls/routes.ts'
import type { WriteDeps } from './chats/write-chat.ts'
import { routeCompletions } from './completions/routes.ts'
import { DefaultPrices } from './costs/default-prices.ts'
import { readPrices } from './costs/prices.ts'
import { routeCosts } from './costs/routes.ts'
import type { MinuteLimiters } from '../accounts/limits/limit-requests.ts'
import type { GatewayDeps } from '../inference/gateway.ts'
import { routeDataSets } from './data-sets/routes.ts'
import { routeFeedback } from './feedback/routes.ts'
import { ValueChecker } from './feedback/value-checker.ts'
import { routeFiles } from './files/routes.ts'
import { routeObjects } from './objects/routes.ts'
import { ValueInspector } from './objects/value-inspector.ts'
import { routeOtel } from './otel/routes.ts'
import { SpanBuilder } from './otel/span-builder.ts'
import { routeTraceRetention } from './retention/routes.ts'
import { routeRefs } from './refs/routes.ts'
import { routeTables } from './tables/routes.ts'
import { routeService, routeTraceHealth } from './server-info/routes.ts'
import { routeThreads } from './threads/routes.ts'
import { createTraceApi, type TraceApi, type TraceApiDeps } from './trace-api.ts'

// The SDKs use this prefix by default. Clients that are configured with an address for traces use the root.
const mount = '/traces'

// First names of operations that weave has and this group lacks. Their errors are in the form of the group too.
const otherNames = ['actions', 'annotation_queues', 'dataset_sources', 'evaluations', 'image', 'trace']

export interface TracingDeps extends AuthDeps, MinuteLimiters, TraceApiDeps {
  artifacts: ArtifactStore
  /** Answers completions. Without it, there are no operations for completions. */
  gateway: GatewayDeps | undefined
  responses: RevocableResponses
  /** For work that would block the event loop. */
  heavyThreads: WorkerPool
  log: Logger
  uploadLimitBytes: number
  pool: Pool
  /** The file with model prices; see `readPrices`. */
  pricesFile: string | undefined
  /** A pool for traces only, so that many trace requests do not block other requests. */
  tracing: Pool
  /** What calls are written with. */
  writing: WriteDeps
}

/** The tracing group. */
export interface Tracing {
  operations: readonly PlacedOperation[]
  routes: Koa.Middleware
  /** What answers without a key. */
  routeOpen: (router: Router) => void
  /** Operations of the REST interface. */
  route: (api: RestApi) => void
}

/** Opens the tracing group: all operations, from one folder for each resource. */
export function openTracing(main: TracingDeps): Tracing {
  const router = new Router<RequestState>()
  const guards = [answerErrors(main.log, presentReason), requireKey(main, readTraceKey), limitRequests(main)]
  router.use(...guards)
  const api = createTraceApi(router, main)
  const deps = createTraceDeps(main)
  routeTraces(api, deps, main.gateway)
  return {
    operations: api.operations,
    routes: mountRoutes(router.routes() as Koa.Middleware, guards, api.operations),
    routeOpen: routeTraceHealth,
    route: (rest) => {
      routeTraceRetention(rest, main)
      routeDataSets(rest, { ...deps, training: main.pool })
      routeCallStatistics(rest, deps)
    },
  }
}

function routeTraces(api: TraceApi, deps: TraceDeps, gateway: GatewayDeps | undefined): void {
  routeCalls(api, deps)
  routeObjects(api, deps)
  routeTables(api, deps)
  routeFiles(api, deps)
  routeRefs(api, deps)
  routeOtel(api, deps)
  routeFeedback(api, deps)
  routeCosts(api, deps)
  routeThreads(api, deps)
  if (gateway) routeCompletions(api, { ...deps, gateway })
  routeService(api, deps)
}

/** Answers below the prefix and, where a path begins as one of an operation of weave, at the root. */
function mountRoutes(
  routes: Koa.Middleware,
  guards: Koa.Middleware<RequestState>[],
  operations: readonly PlacedOperation[],
): Koa.Middleware {
  const others = rejectUnknownPaths(guards)
  const names = new Set([...otherNames, ...operations.map(({ path }) => readFirst(path))])
  return (ctx, next) => {
    const { path } = ctx
    const isMounted = path.startsWith(`${mount}/`)
    if (isMounted) ctx.path = path.slice(mount.length)
    return routes(ctx, () => {
      // No operation matched. The next middleware needs the original path.
      ctx.path = path
      return isMounted || path === mount || names.has(readFirst(path)) ? others(ctx, next) : next()
    })
  }
}

/** Answers unknown paths and methods with this group's errors, after this group's authentication. */
function rejectUnknownPaths(guards: Koa.Middleware<RequestState>[]): Koa.Middleware {
  const router = new Router<RequestState>()
  router.use(...guards)
  router.all('{/*path}', ({ matched, method, originalUrl }) => {
    const methods = new Set(matched?.filter(({ path }) => path !== '{/*path}').flatMap((layer) => layer.methods))
    if (methods.size === 0) throw unknownPath({ method, path: originalUrl.split('?')[0]! })
    throw new HttpError(errors.method_not_allowed, undefined, {
      headers: { Allow: [...methods].join(', ') },
    })
  })
  return router.routes() as Koa.Middleware
}

/** The first segment of a path. */
function readFirst(path: string): string {
  return path.split('/', 2)[1] ?? ''
}

type TraceDeps = ReturnType<typeof createTraceDeps>

function createTraceDeps(main: TracingDeps) {
  const { artifacts, heavyThreads, log, memory, pricesFile, responses, storage, uploadLimitBytes, writing } = main
  return {
    artifacts,
    heavyThreads,
    log,
    memory,
    responses,
    storage,
    uploadLimitBytes,
    pool: main.tracing,
    projects: writing.projects,
    calls: writing.calls,
    prices: new DefaultPrices(pricesFile === undefined ? new Map() : readPrices(pricesFile), main.pool),
    values: new ValueChecker(main.admission),
    inspector: new ValueInspector(heavyThreads),
    spans: new SpanBuilder(heavyThreads),
  }
}
