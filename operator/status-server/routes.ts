import { uriPrefixOf } from '../../artifacts/layout.ts'
import { Router } from '@koa/router'
import type { Context } from 'koa'
import type { Attempt, ReportOutcome } from '../../db/jobs/attempts.ts'
import { renewLease, type Claimant } from '../../db/jobs/claims.ts'
import { recordProgress, type ReportedProgress } from '../../db/jobs/progress.ts'
import {
  recordCheckpoint,
  recordEvents,
  recordFailure,
  recordRelease,
  type ReportedEvent,
} from '../../db/jobs/reports.ts'
import { recordLog, type ReportedLine } from '../../db/jobs/logs.ts'
import { recordTokenStatistics } from '../../db/jobs/token-statistics.ts'
import type { Logger } from '../../lib/log.ts'
import type { Pool } from '../../db/pool.ts'
import type { TrainerPod } from './auth.ts'
import { readJson } from './body.ts'
import type { ClaimQueue } from './claim-queue.ts'
import { prepareWarnings } from './job-warnings.ts'
import { presentClaim } from './present.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './errors.ts'
import {
  parseAttemptPath,
  parseCheckpoint,
  parseClaim,
  parseEvents,
  parseFailure,
  parseLog,
  parseProgress,
  parseStatistics,
} from './schema.ts'
import { truncateScrubbed } from './scrub.ts'
import { readStatistics } from './token-statistics.ts'

/** What the trainer routes work with; `authenticate` throws an HttpError for every caller but a trainer pod. */
export interface RouteDeps {
  pool: Pool
  queue: ClaimQueue
  authenticate: (header: string | undefined) => Promise<TrainerPod>
  log: Logger
}

interface TrainerState {
  pod: TrainerPod
}

/** What an error's message may hold in the row, the event and the resource's status. */
const maxMessageLength = 2_000
/** What one line of a log may hold: a traceback and more. */
const maxLineLength = 8_000
/** A number for each of the hundred thousand trajectories that a job may have. */
const maxStatisticsBytes = 8 * 1024 * 1024
const attemptPath = '/v1/jobs/:id/attempts/:attempt'

/** The routes of trainers: all of them need a trainer pod's token. */
export function createTrainerRoutes({ pool, queue, authenticate, log }: RouteDeps): Router<TrainerState> {
  const router = new Router<TrainerState>()

  router.use(async (context, next) => {
    context.state.pod = await authenticate(context.get('authorization'))
    await next()
  })

  router.post('/v1/claims', async (context) => {
    const body = parseClaim(await readJson(context))
    const { pod } = context.state
    const claim = await queue.wait(readClaimant(body, pod), body.wait_seconds * 1000, whenClientLeaves(context))
    if (claim) log.info({ job: claim.id, attempt: claim.attempt, pod: pod.name }, 'job claimed')
    context.status = claim ? 200 : 204
    if (claim) context.body = presentClaim(claim)
  })

  router.post(`${attemptPath}/heartbeat`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    await readJson(context)
    answer(context, (await renewLease(pool, attempt)) ? 'recorded' : 'fenced')
  })

  router.post(`${attemptPath}/events`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    const { events } = parseEvents(await readJson(context))
    answer(context, await recordEvents(pool, attempt, events.map(prepareEvent)))
  })

  router.post(`${attemptPath}/checkpoint`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    const { warnings, ...checkpoint } = parseCheckpoint(await readJson(context))
    answer(context, await recordCheckpoint(pool, attempt, { ...checkpoint, warnings: prepareWarnings(warnings) }))
    log.info({ job: attempt.jobId, attempt: attempt.attempt, pod: context.state.pod.name }, 'checkpoint recorded')
  })

  router.post(`${attemptPath}/progress`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    const progress = readProgress(parseProgress(await readJson(context)), attempt.jobId)
    answer(context, await recordProgress(pool, attempt, progress))
  })

  router.post(`${attemptPath}/release`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    await readJson(context)
    answer(context, await recordRelease(pool, attempt))
    log.info({ job: attempt.jobId, attempt: attempt.attempt, pod: context.state.pod.name }, 'job given back')
  })

  router.post(`${attemptPath}/failure`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    const { category, reason, message, retryable } = parseFailure(await readJson(context))
    const failure = { category, reason, message: truncateScrubbed(message, maxMessageLength), retryable }
    answer(context, await recordFailure(pool, attempt, failure))
    log.warn({ job: attempt.jobId, attempt: attempt.attempt, pod: context.state.pod.name, failure }, 'attempt failed')
  })

  router.post(`${attemptPath}/log`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    const { lines } = parseLog(await readJson(context))
    answer(context, await recordLog(pool, attempt, lines.map(prepareLine)))
  })

  router.post(`${attemptPath}/token-statistics`, async (context) => {
    const attempt = readAttempt(context.params, context.state.pod)
    const statistics = readStatistics(parseStatistics(await readJson(context, maxStatisticsBytes)))
    answer(context, await recordTokenStatistics(pool, attempt, statistics))
  })

  return router
}

function readClaimant(body: ReturnType<typeof parseClaim>, pod: TrainerPod): Claimant {
  return {
    baseModel: body.base_model,
    podUid: pod.uid,
    processId: body.process_id,
    gpus: body.gpus ?? 0,
    holding: body.holding,
  }
}

function readProgress({ uri, digest, step }: ReturnType<typeof parseProgress>, jobId: string): ReportedProgress {
  const [folder, id = ''] = uri.slice(uriPrefixOf('progress').length).split('/')
  if (folder !== jobId.toLowerCase())
    throw new HttpError(errors.invalid_request, `uri must begin with ${uriPrefixOf('progress')}${jobId}/`)
  return { id, digest, step }
}

function prepareEvent(event: ReturnType<typeof parseEvents>['events'][number]): ReportedEvent {
  return event.type === 'training_started' ? { ...event, warnings: prepareWarnings(event.warnings) } : event
}

function prepareLine({ seq, time, level, text }: ReportedLine): ReportedLine {
  return { seq, time: new Date(time).toISOString(), level, text: truncateScrubbed(text, maxLineLength) }
}

function readAttempt(params: unknown, pod: TrainerPod): Attempt {
  const { id, attempt } = parseAttemptPath(params)
  return { jobId: id, attempt: Number(attempt), podUid: pod.uid }
}

function answer(context: Context, outcome: ReportOutcome): void {
  if (outcome === 'fenced') throw new HttpError(errors.fenced)
  context.body = {}
}

function whenClientLeaves(context: Context): AbortSignal {
  const left = new AbortController()
  context.res.once('close', () => left.abort())
  return left.signal
}
