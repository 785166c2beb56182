import type { Router } from '@koa/router'
import { Type } from 'typebox'
import type { Deps } from '../deps.ts'
import type { Api } from '../http/api.ts'
import { checkSystem } from './system-check.ts'

const systemReportSchema = Type.Object({
  ok: Type.Boolean(),
  parts: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.String() })),
})

/** Liveness: this process answers. It asks nobody else, so it holds while the database is away. */
export function routeHealth(router: Router): void {
  router.get('/v1/health', (ctx) => {
    ctx.body = { status: 'ok' }
  })
}

/** Whether each part works, measured now: 200 when all do, else 503 with the same body. */
export function routeSystemCheck(api: Api, deps: Deps): void {
  const operation = {
    tag: 'Health',
    summary: 'Whether each part works, measured now',
    answer: systemReportSchema,
    otherStatuses: { 503: systemReportSchema },
  }
  api.get('/v1/system-check', operation, async ({ ctx }) => {
    const report = await checkSystem(deps)
    ctx.status = report.ok ? 200 : 503
    ctx.body = report
  })
}
