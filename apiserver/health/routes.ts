import type { Router } from '@koa/router'
import type { Deps } from '../deps.ts'
import type { RequestState } from '../middleware/context.ts'
import { checkSystem } from './system-check.ts'

/** Liveness: this process answers. It asks nobody else, so it holds while the database is away. */
export function routeHealth(router: Router): void {
  router.get('/v1/health', (ctx) => {
    ctx.body = { status: 'ok' }
  })
}

/** Whether each part works, measured now: 200 when all do, else 503 with the same body. */
export function routeSystemCheck(router: Router<RequestState>, deps: Deps): void {
  router.get('/v1/system-check', async (ctx) => {
    const report = await checkSystem(deps)
    ctx.status = report.ok ? 200 : 503
    ctx.body = report
  })
}
