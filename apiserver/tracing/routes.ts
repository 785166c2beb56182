import { Router } from '@koa/router'
import type Koa from 'koa'
import type { Deps } from '../deps.ts'
import type { PlacedOperation } from '../http/api.ts'
import { requireKey } from '../middleware/auth.ts'
import type { RequestState } from '../middleware/context.ts'
import { limitRequests } from '../middleware/limit-requests.ts'
import { answerTraceErrors } from './answer-errors.ts'
import { readTraceKey } from './auth.ts'
import { routeCalls } from './calls/routes.ts'
import { CallWriter } from './calls/writer.ts'
import { routeCompletions } from './completions/routes.ts'
import { DefaultPrices } from './costs/default-prices.ts'
import { readPrices } from './costs/prices.ts'
import { routeCosts } from './costs/routes.ts'
import type { TraceDeps } from './deps.ts'
import { routeFeedback } from './feedback/routes.ts'
import { ValueChecker } from './feedback/value-checker.ts'
import { routeFiles } from './files/routes.ts'
import { routeObjects } from './objects/routes.ts'
import { ValueInspector } from './objects/value-inspector.ts'
import { routeGraphql } from './graphql/routes.ts'
import { routeOtel } from './otel/routes.ts'
import { Projects } from './projects.ts'
import { routeRefs } from './refs/routes.ts'
import { routeTables } from './tables/routes.ts'
import { routeService } from './service/routes.ts'
import { routeThreads } from './threads/routes.ts'
import { TraceApi } from './trace-api.ts'

// Where the SDKs look by themselves. Clients that are told an address of traces find the same at the root.
const mount = '/traces'

/** The tracing group: every operation, one folder per resource. */
export function createTracing(main: Deps): { operations: readonly PlacedOperation[]; routes: Koa.Middleware } {
  const deps = createTraceDeps(main)
  const router = new Router<RequestState>()
  router.use(answerTraceErrors(main.log), requireKey(main, readTraceKey), limitRequests(main))
  const api = new TraceApi(router)
  routeCalls(api, deps)
  routeObjects(api, deps)
  routeTables(api, deps)
  routeFiles(api, deps)
  routeRefs(api, deps)
  routeOtel(api, deps)
  routeFeedback(api, deps)
  routeCosts(api, deps)
  routeThreads(api, deps)
  routeCompletions(api, deps)
  routeService(api, deps)
  routeGraphql(api, deps)

  const routes = router.routes() as Koa.Middleware
  return {
    operations: api.operations,
    routes: (ctx, next) => {
      const { path } = ctx
      if (path.startsWith(`${mount}/`)) ctx.path = path.slice(mount.length)
      return routes(ctx, () => {
        // Nothing of ours: what comes next is not below the mount.
        ctx.path = path
        return next()
      })
    },
  }
}

function createTraceDeps(main: Deps): TraceDeps {
  const { artifacts, config, log, tracing: pool } = main
  const [projects, calls] = [new Projects(pool), new CallWriter(main.traceWrites, artifacts)]
  const file = config.TRAINYARD_TRACING_PRICES
  const prices = new DefaultPrices(file === undefined ? new Map() : readPrices(file), main.pool)
  const [values, inspector] = [new ValueChecker(), new ValueInspector()]
  return { artifacts, config, log, pool, projects, calls, prices, values, inspector, main }
}
