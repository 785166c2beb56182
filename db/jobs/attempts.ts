/** How often a job is tried where its resource says nothing of it: five times again. */
export const defaultMaxAttempts = 6

/** Seconds that a trainer may stay silent before its job is given to another one. */
export const leaseSeconds = 15

/**
 * For SQL: whether a job was lost with its trainer when it was tried last. It may be what ended that, so that it is tried
 * again by itself: no other job goes with it, and the next loss is its own.
 */
export const goesAlone = (job: string): string => `${job}.failure->>'reason' = 'TrainerLost'`

/** What a trainer's write is checked against. */
export interface Attempt {
  jobId: string
  attempt: number
  podUid: string
}

/**
 * What became of a report: recorded (now, or earlier by an identical one), or fenced, because the attempt no longer
 * holds the job and nothing was changed.
 */
export type ReportOutcome = 'recorded' | 'fenced'

/** Why a job failed, as the row and the resource's status have it. `message` is a sentence that a user can act on. */
export interface JobFailure {
  category: 'User' | 'Capacity' | 'Internal'
  reason: string
  message: string
  /** The same job may succeed when it is tried again; never after a user's mistake. */
  retryable: boolean
}
