import { uriPrefixOf } from '../../artifacts/layout.ts'
import type { Static } from 'typebox'
import { recordProgress, type ReportedProgress } from '../../db/jobs/progress.ts'
import { recordCheckpoint, recordEvents, recordFailure, type ReportedEvent } from '../../db/jobs/reports.ts'
import { recordLog, type ReportedLine } from '../../db/jobs/logs.ts'
import { recordTokenStatistics } from '../../db/jobs/token-statistics.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import { attemptOperation, attemptPath, readAttempt, requireHeld } from './attempt-operation.ts'
import { prepareWarnings } from './job-warnings.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './errors.ts'
import { checkpointBody, eventsBody, failureBody, logBody, progressBody, statisticsBody } from './schema.ts'
import { truncateScrubbed } from './scrub.ts'
import { readStatistics } from './token-statistics.ts'
import type { TrainerApi } from './trainer-api.ts'

/** What reports are recorded with. */
export interface ReportDeps {
  pool: Pool
  log: Logger
}

/** The maximum of an error message in the row, the event and the resource's status. */
const maxMessageLength = 2_000
/** The maximum of one log line: enough for a traceback. */
const maxLineLength = 8_000
/** Enough for a number for each of a job's 100,000 trajectories. */
const maxStatisticsBytes = 8 * 1024 * 1024

/** Reports of a running attempt. */
export function routeReports(api: TrainerApi, { pool }: ReportDeps): void {
  api.post(
    `${attemptPath}/events`,
    { ...attemptOperation, summary: 'Record events', body: eventsBody },
    async ({ caller, params, body: { events } }) =>
      requireHeld(await recordEvents(pool, readAttempt(params, caller), events.map(prepareEvent))),
  )

  api.post(
    `${attemptPath}/progress`,
    { ...attemptOperation, summary: 'Record saved progress', body: progressBody },
    async ({ caller, params, body }) => {
      const attempt = readAttempt(params, caller)
      return requireHeld(await recordProgress(pool, attempt, readProgress(body, attempt.jobId)))
    },
  )

  api.post(
    `${attemptPath}/log`,
    { ...attemptOperation, summary: 'Record lines of the log', body: logBody },
    async ({ caller, params, body: { lines } }) =>
      requireHeld(await recordLog(pool, readAttempt(params, caller), lines.map(prepareLine))),
  )

  api.post(
    `${attemptPath}/token-statistics`,
    {
      ...attemptOperation,
      summary: 'Record token statistics',
      body: statisticsBody,
      bodyLimitBytes: maxStatisticsBytes,
    },
    async ({ caller, params, body }) =>
      requireHeld(await recordTokenStatistics(pool, readAttempt(params, caller), readStatistics(body))),
  )
}

/** Reports that end an attempt. */
export function routeEnds(api: TrainerApi, { pool, log }: ReportDeps): void {
  api.post(
    `${attemptPath}/checkpoint`,
    { ...attemptOperation, summary: 'Record the checkpoint of a trained job', body: checkpointBody },
    async ({ caller, params, body: { warnings, ...checkpoint } }) => {
      const attempt = readAttempt(params, caller)
      requireHeld(await recordCheckpoint(pool, attempt, { ...checkpoint, warnings: prepareWarnings(warnings) }))
      log.info({ job: attempt.jobId, attempt: attempt.attempt, pod: caller.name }, 'checkpoint recorded')
      return {}
    },
  )

  api.post(
    `${attemptPath}/failure`,
    { ...attemptOperation, summary: 'Record that the attempt failed', body: failureBody },
    async ({ caller, params, body: { category, reason, message, retryable } }) => {
      const attempt = readAttempt(params, caller)
      const failure = { category, reason, message: truncateScrubbed(message, maxMessageLength), retryable }
      requireHeld(await recordFailure(pool, attempt, failure))
      log.warn({ job: attempt.jobId, attempt: attempt.attempt, pod: caller.name, failure }, 'attempt failed')
      return {}
    },
  )
}

function readProgress({ uri, digest, step }: Static<typeof progressBody>, jobId: string): ReportedProgress {
  const [folder, id = ''] = uri.slice(uriPrefixOf('progress').length).split('/')
  if (folder !== jobId.toLowerCase())
    throw new HttpError(errors.invalid_request, `uri must begin with ${uriPrefixOf('progress')}${jobId}/`)
  return { id, digest, step }
}

function prepareEvent(event: Static<typeof eventsBody>['events'][number]): ReportedEvent {
  return event.type === 'training_started' ? { ...event, warnings: prepareWarnings(event.warnings) } : event
}

function prepareLine({ seq, time, level, text }: ReportedLine): ReportedLine {
  return { seq, time: new Date(time).toISOString(), level, text: truncateScrubbed(text, maxLineLength) }
}
