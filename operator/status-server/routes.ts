import type { Router } from '@koa/router'
import { Type, type Static } from 'typebox'
import type { HttpContext } from '../../lib/http/context.ts'
import type { Claimant } from '../../db/jobs/claims.ts'
import { renewLease } from '../../db/jobs/leases.ts'
import { recordRelease } from '../../db/jobs/reports.ts'
import { recordDrop } from '../../db/jobs/stopping-attempts.ts'
import { attemptOperation, attemptPath, readAttempt, requireHeld, tag } from './attempt-operation.ts'
import type { CallingPod } from './auth.ts'
import type { ClaimQueue } from './claim-queue.ts'
import { routeEnds, routeReports, type ReportDeps } from './report-routes.ts'
import { presentClaim } from './present.ts'
import { claimBody, requireAttemptPath } from './schema.ts'
import { routeUntrainedAdapter, routeUntrainedLayers } from './start-routes.ts'
import { openPodRoutes, type AuthenticatePod, type TrainerApi, type TrainerState } from './trainer-api.ts'

/** What the trainer routes need. `authenticate` throws an HttpError for every caller except a trainer pod. */
export interface RouteDeps extends ReportDeps {
  queue: ClaimQueue
  authenticate: AuthenticatePod
}

/** The routes of trainers. All of them require a trainer pod's token. */
export function createTrainerRoutes(deps: RouteDeps): Router<TrainerState> {
  const { router, api } = openPodRoutes(deps.authenticate)
  // This runs before a body is read.
  router.param('attempt', (_, ctx, next) => {
    requireAttemptPath(ctx.params)
    return next()
  })
  routeClaims(api, deps)
  routeLeases(api, deps)
  routeReports(api, deps)
  routeEnds(api, deps)
  routeUntrainedLayers(api, deps.pool)
  routeUntrainedAdapter(api, deps.pool)
  return router
}

function routeClaims(api: TrainerApi, { queue, log }: RouteDeps): void {
  api.post(
    '/v1/claims',
    { tag, summary: 'Claim a job; 204 when there is none after the wait', body: claimBody },
    async ({ ctx, caller, body }) => {
      const claim = await queue.wait(readClaimant(body, caller), body.wait_seconds * 1000, whenClientLeaves(ctx))
      if (!claim) {
        ctx.status = 204
        return undefined
      }
      log.info({ job: claim.id, attempt: claim.attempt, pod: caller.name }, 'job claimed')
      return presentClaim(claim)
    },
  )
}

function routeLeases(api: TrainerApi, { pool, log }: RouteDeps): void {
  api.post(
    `${attemptPath}/heartbeat`,
    { ...attemptOperation, summary: 'Renew the lease of an attempt', body: Type.Unknown() },
    async ({ caller, params }) =>
      requireHeld((await renewLease(pool, readAttempt(params, caller))) ? 'recorded' : 'fenced'),
  )

  api.post(
    `${attemptPath}/release`,
    { ...attemptOperation, summary: 'Return the job to the queue', body: Type.Unknown() },
    async ({ caller, params }) => {
      const attempt = readAttempt(params, caller)
      requireHeld(await recordRelease(pool, attempt))
      log.info({ job: attempt.jobId, attempt: attempt.attempt, pod: caller.name }, 'job given back')
      return {}
    },
  )

  api.post(
    `${attemptPath}/dropped`,
    { ...attemptOperation, summary: 'Record that an ended attempt is no longer worked on', body: Type.Unknown() },
    async ({ caller, params }) => {
      await recordDrop(pool, readAttempt(params, caller))
      return {}
    },
  )
}

function readClaimant(body: Static<typeof claimBody>, pod: CallingPod): Claimant {
  return {
    baseModel: body.base_model,
    podUid: pod.uid,
    processId: body.process_id,
    gpus: body.gpus,
    holding: body.holding,
    jobId: body.job_id,
  }
}

function whenClientLeaves(ctx: HttpContext): AbortSignal {
  const left = new AbortController()
  ctx.res.once('close', () => left.abort())
  return left.signal
}
