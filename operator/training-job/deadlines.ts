import { reasons } from '../../crds/names.ts'
import type { JobFailure } from '../../db/jobs/attempts.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'

/** When a job fails if it is not further by then, and why. */
export interface Deadline {
  at: Date
  failure: JobFailure
}

type DatedJob = Pick<
  OperatorJob,
  | ('state' | 'createdAt' | 'firstClaimedAt' | 'startDeadlineSeconds' | 'activeDeadlineSeconds')
  | ('suspendedAt' | 'suspendedSeconds')
>

/**
 * The deadline of an unfinished job: to begin, and then to be trained. A trained job and a suspended one have none. Time in
 * which a job was suspended does not count.
 */
export function findDeadline(job: DatedJob): Deadline | undefined {
  const { startDeadlineSeconds: start, activeDeadlineSeconds: active, firstClaimedAt, suspendedSeconds } = job
  if (job.state === 'Publishing' || job.suspendedAt !== null) return undefined
  if (firstClaimedAt === null) {
    if (start === null) return undefined
    const message = `No trainer has begun the job within ${start} seconds (startDeadlineSeconds)`
    const failure = { category: 'Capacity', reason: reasons.startDeadlineExceeded, message, retryable: true } as const
    return { at: addSeconds(job.createdAt, start + suspendedSeconds), failure }
  }
  if (active === null) return undefined
  const message = `The job was not trained within ${active} seconds of its first start (activeDeadlineSeconds)`
  const failure = { category: 'User', reason: reasons.deadlineExceeded, message, retryable: false } as const
  return { at: addSeconds(firstClaimedAt, active + suspendedSeconds), failure }
}

function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000)
}
