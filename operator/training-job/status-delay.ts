import { isDeepStrictEqual } from 'node:util'
import { isTerminal } from '../../crds/job-states.ts'
import type { StatusDelay } from '../status-throttle.ts'
import type { JobStatus } from './status.ts'

// A trained job is published soon, and a waiting one may be claimed soon. Both are then one write.
const settleMs = 1_000
// A claimed job reports its start when its trainer has read its data.
const startMs = 2_000
const progressMs = 5_000
// The messages of waiting jobs have their positions in the queue, and change whenever a job ends.
const minTextMs = 2_000
const maxTextMs = 60_000
const textMsPerWaiting = 50
// Until then, kubectl shows the default status.
const maxFirstMs = 30_000

/**
 * How soon a waiting job is described as such, beside this many others. One that is claimed before has one write less, which
 * is worth more the more there is to do.
 */
export function planFirstDelay(waiting: number): StatusDelay {
  return { settleMs: Math.min(maxFirstMs, Math.max(settleMs, waiting * textMsPerWaiting)), intervalMs: 0 }
}

/** How soon a job's status is written, beside this many others whose messages change as often. */
export function planStatusDelay(before: JobStatus | undefined, after: JobStatus, waiting: number): StatusDelay {
  if (isTerminal(after.phase ?? 'Pending')) return { settleMs: 0, intervalMs: 0 }
  if (before === undefined || !isDeepStrictEqual(pickFacts(before), pickFacts(after))) {
    return { settleMs: after.phase === 'Starting' ? startMs : settleMs, intervalMs: 0 }
  }
  if (!isDeepStrictEqual(before.progress, after.progress)) return { settleMs: 0, intervalMs: progressMs }
  return { settleMs: 0, intervalMs: Math.min(maxTextMs, Math.max(minTextMs, waiting * textMsPerWaiting)) }
}

/** What people and programs wait for. */
function pickFacts(status: JobStatus) {
  const { message: _, progress: __, conditions = [], ...facts } = status
  return { ...facts, conditions: conditions.map(({ message: ___, ...condition }) => condition) }
}
