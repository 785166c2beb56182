import type { Router } from '@koa/router'
import { Type } from 'typebox'
import type { RestApi } from '../accounts/rest-api.ts'
import { presentReport } from './present.ts'
import { shareCheck } from '../../lib/shared-check.ts'
import { checkSystem, type SystemDeps } from './system-check.ts'

// Each check writes to the store and calls every pod.
export const keepMs = 2_000

const systemReportSchema = Type.Object({
  ok: Type.Boolean(),
  checked_at: Type.String({ format: 'date-time' }),
  parts: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.String() })),
})

/** Liveness: this process answers. It does not depend on other parts, such as the database. */
export function routeHealth(router: Router): void {
  router.get('/v1/health', (ctx) => {
    ctx.body = { status: 'ok' }
  })
}

interface StartState {
  isMigrated: () => boolean
  storeTrouble: () => string | undefined
}

/**
 * Readiness: the database has the tables that this version needs, and the artifact store is set up. Before the database is
 * migrated, every other request is a 503.
 */
export function routeReadiness(router: Router, { isMigrated, storeTrouble }: StartState): void {
  router.get('/v1/ready', (ctx) => {
    const detail = isMigrated() ? storeTrouble() : 'The database is not migrated yet.'
    ctx.status = detail === undefined ? 200 : 503
    ctx.body = detail === undefined ? { status: 'ok' } : { status: 'starting', detail }
  })
}

/** Whether each part works, measured within the last seconds. 200 if all do, else 503 with the same body. */
export function routeSystemCheck(api: RestApi, deps: SystemDeps): void {
  const operation = {
    tag: 'Health',
    summary: 'Check each part of the service',
    description:
      'Checked at `checked_at`, at most every two seconds. With an admin key the answer also has versions and ' +
      'causes.',
    answer: systemReportSchema,
    otherStatuses: { 503: systemReportSchema },
  }
  const check = shareCheck(() => checkSystem(deps), keepMs)
  api.get('/v1/system-check', operation, async ({ ctx, caller }) => {
    const report = await check()
    ctx.status = report.ok ? 200 : 503
    ctx.body = presentReport(report, caller.role)
  })
}
