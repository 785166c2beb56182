/** The attempts of a job if its resource does not set them: the first and five retries. */
export const defaultMaxAttempts = 6

/** What the resource of a job says about its retries: nothing if they are the default. */
export function describeRetries(maxAttempts: number): { retryLimit?: number } {
  return maxAttempts === defaultMaxAttempts ? {} : { retryLimit: maxAttempts - 1 }
}

/** A trainer that is silent for this many seconds loses its job to another one. */
export const leaseSeconds = 15

/**
 * SQL: whether the job's last attempt lost its trainer. The job may be the cause, so its next attempt shares the
 * trainer with no other job.
 */
export const goesAlone = (job: string): string => `${job}.failure->>'reason' IN ('TrainerLost', 'OOMKilled')`

/** The attempt that a trainer's write is checked against. */
export interface Attempt {
  jobId: string
  attempt: number
  podUid: string
}

/**
 * The result of a report. `recorded`: it is recorded now, or an identical one was earlier. `fenced`: the attempt no
 * longer holds the job, and nothing was changed.
 */
export type ReportOutcome = 'recorded' | 'fenced'

/**
 * Why a job failed, as in its row and its resource's status. `message` is a sentence that tells the user what to do.
 */
export interface JobFailure {
  category: 'User' | 'Capacity' | 'Internal'
  reason: string
  message: string
  /** Whether another attempt may succeed; never after a user's mistake. */
  retryable: boolean
}
