import { Router } from '@koa/router'
import { createHash } from 'node:crypto'
import type Koa from 'koa'
import type { Logger } from '../../lib/log.ts'
import type { PlacedOperation } from '../../lib/http/operation.ts'
import type { FindPublicBase } from '../../lib/http/public-base.ts'
import { authenticate, type AuthDeps } from '../accounts/keys/authenticate.ts'
import { limitRequests } from '../accounts/limits/limit-requests.ts'
import type { MinuteLimiters } from '../accounts/limits/limit-requests.ts'
import type { ApiDeps, RestApi } from '../accounts/rest-api.ts'
import { answerErrors } from '../errors/answer-errors.ts'
import { readTraceKey } from '../tracing/auth.ts'
import type { Projects } from '../tracing/projects.ts'
import type { AddVersionDeps } from '../training/checkpoints/add-version.ts'
import type { WandbArtifactDeps } from './artifacts/deps.ts'
import { createRunArtifacts } from './artifacts/run-artifacts.ts'
import { createArtifactsResource } from './artifacts/resource.ts'
import { routeArtifactFallback, routeArtifactLinks } from './artifacts/routes.ts'
import { createCheckpointHooks } from './checkpoints/hooks.ts'
import { presentErrors } from './errors.ts'
import type { GraphqlResource } from './graphql/resource.ts'
import { routeGraphql } from './graphql/routes.ts'
import { Links } from './links/links.ts'
import { requireLink } from './links/require-link.ts'
import { routeFileStream } from './file-stream/routes.ts'
import { createRunFilesResource } from './run-files/resource.ts'
import { routeRunFiles } from './run-files/routes.ts'
import { createRunsResource } from './runs/resource.ts'
import { routeRuns } from './runs/routes.ts'
import { routeSdkTelemetry } from './sdk-telemetry/routes.ts'
import { createLoginResource } from './login/resource.ts'
import { createWandbApi, type WandbApi, type WandbState } from './wandb-api.ts'

interface SharedParts
  extends ApiDeps, AuthDeps, AddVersionDeps, MinuteLimiters, Omit<WandbArtifactDeps, 'checkpoints'> {
  findPublicBase: FindPublicBase
  log: Logger
}

export interface WandbDeps extends SharedParts {
  /** Projects of traces, if this server has the group tracing. */
  traceProjects: Projects | undefined
  /** Whether this server has the group training, to which artifacts belong. */
  hasTraining: boolean
}

/** What the wandb SDK speaks: GraphQL, streams of runs, and links to files. */
export interface Wandb {
  operations: readonly PlacedOperation[]
  routes: Koa.Middleware
  /** Routes without a key. */
  routeOpen: (router: Router) => void
  /** Operations of the REST interface. */
  route: (api: RestApi) => void
}

/** The two kinds of routes: with the API key as the password of Basic authorization, and with a link of ours. */
interface WandbApis {
  keyed: WandbApi
  linked: WandbApi
}

/** Opens the wandb wing. Each subject has a folder: its resolvers, its routes, and its service. */
export function openWandb(main: WandbDeps): Wandb {
  const links = new Links(main.pool)
  const deps = { ...main, links }
  const shared = [answerErrors(main.log, presentErrors)]
  const limit = limitRequests(main)
  const keyed = openRouter([...shared, requireWandbKey(main), limit], main)
  const linked = openRouter([...shared, requireLink(deps), limit], main)
  routeWandb({ keyed: keyed.api, linked: linked.api }, deps)
  const linkedRoutes = linked.router.routes() as Koa.Middleware
  const keyedRoutes = keyed.router.routes() as Koa.Middleware
  return {
    operations: [...keyed.api.operations, ...linked.api.operations],
    routes: (ctx, next) => keyedRoutes(ctx, () => linkedRoutes(ctx, next)),
    routeOpen: routeSdkTelemetry,
    route: (api) => routeRuns(api, main),
  }
}

/** Every route and every resolver of the wing. */
function routeWandb({ keyed, linked }: WandbApis, deps: WandbDeps & { links: Links }): void {
  const artifactDeps = deps.hasTraining ? { ...deps, checkpoints: createCheckpointHooks(deps) } : undefined
  const resources: GraphqlResource[] = [
    ...(deps.traceProjects ? [createLoginResource(deps.traceProjects)] : []),
    createRunsResource({ ...deps, runArtifacts: artifactDeps && createRunArtifacts(artifactDeps) }),
    createRunFilesResource(deps),
  ]
  if (artifactDeps) {
    resources.push(createArtifactsResource(artifactDeps))
    routeArtifactFallback(keyed, artifactDeps)
    routeArtifactLinks(linked, artifactDeps)
  }
  routeGraphql(keyed, deps, resources)
  routeFileStream(keyed, deps)
  routeRunFiles(linked, deps)
}

function openRouter(guards: Koa.Middleware<WandbState>[], deps: ApiDeps) {
  const router = new Router<WandbState>()
  router.use(...guards)
  return { router, api: createWandbApi(router, deps) }
}

function requireWandbKey(deps: AuthDeps): Koa.Middleware<WandbState> {
  return async (ctx, next) => {
    const key = readTraceKey(ctx)
    const { caller, limits } = await authenticate(deps, ctx, key)
    const keyDigest = createHash('sha256')
      .update(key ?? '')
      .digest('base64url')
    Object.assign(ctx.state, { caller, limits, keyDigest } satisfies WandbState)
    await next()
  }
}
