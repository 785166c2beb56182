/** Seconds that a trainer may stay silent before its job is given to another one. */
export const leaseSeconds = 15

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
