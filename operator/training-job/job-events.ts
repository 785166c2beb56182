import { pascalCase } from '../../crds/case.ts'
import { conditions, reasons } from '../../crds/names.ts'
import type { EventSpec } from '../../lib/kube/events.ts'
import { explainAttemptEnd, type JobStatus } from './status.ts'

/**
 * The events between two statuses of a job, in order. Includes states that passed too fast to be observed. That a job
 * from REST is accepted was its answer, and is no event.
 */
export function diffJobEvents(before: JobStatus | undefined, after: JobStatus, { isOfRest = false } = {}): EventSpec[] {
  if (after.reason === reasons.alreadyRan) {
    return before?.reason === after.reason ? [] : [buildEvent(reasons.alreadyRan, after.message)]
  }
  return [
    ...(isOfRest ? [] : diffAccepted(before, after)),
    ...diffAttempts(before, after),
    ...diffWarnings(before, after),
    ...diffEnd(before, after),
  ]
}

function diffAccepted(before: JobStatus | undefined, after: JobStatus): EventSpec[] {
  const [earlier, now] = [before, after].map((status) => find(status, conditions.accepted))
  if (!now || (earlier?.status === now.status && earlier.reason === now.reason)) return []
  if (now.status === 'True') return [buildEvent(reasons.accepted, `${now.message} Its id is ${after.id}.`)]
  return after.phase === 'Pending' && now.reason === reasons.modelNotFound ? [buildEvent(now.reason, now.message)] : []
}

function diffAttempts(before: JobStatus | undefined, after: JobStatus): EventSpec[] {
  const events: EventSpec[] = []
  const attempt = after.attempt ?? 0
  if (attempt > (before?.attempt ?? 0))
    events.push(buildEvent('Started', `A trainer has claimed it, attempt ${attempt}.`))
  if (after.phase === 'Queued' && attempt > 0 && after.failure && before?.phase !== 'Queued') {
    const ended = explainAttemptEnd(attempt, after.failure)
    const isStopped = after.failure.reason === reasons.trainerStopped
    events.push(isStopped ? buildEvent('GivenBack', ended) : buildEvent('Retrying', ended, 'Warning'))
  }
  return events
}

/** One event per code. */
function diffWarnings(before: JobStatus | undefined, { warnings = [] }: JobStatus): EventSpec[] {
  const known = new Set(before?.warnings?.map(({ code }) => code))
  return [...Map.groupBy(warnings, ({ code }) => code)]
    .filter(([code]) => !known.has(code))
    .map(([code, found]) => buildEvent(pascalCase(code), found.map(({ message }) => message).join(' '), 'Warning'))
}

function diffEnd(before: JobStatus | undefined, after: JobStatus): EventSpec[] {
  if (before?.phase === after.phase) return []
  if (after.phase === 'Succeeded') return [buildEvent('Succeeded', describeSuccess(after))]
  if (after.phase === 'Cancelled') return [buildEvent('Cancelled', after.message)]
  return after.phase === 'Failed' ? [buildEvent('Failed', `${after.reason}: ${after.message}`, 'Warning')] : []
}

/** Where its checkpoint is served belongs to it. */
function describeSuccess(after: JobStatus): string {
  return [after.message, find(after, conditions.published)?.message].filter(Boolean).join(' ')
}

function find(status: JobStatus | undefined, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

function buildEvent(reason: string, message = '', type: EventSpec['type'] = 'Normal'): EventSpec {
  return { type, reason, message }
}
