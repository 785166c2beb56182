import type { BaseModel } from '../../../crds/generated.ts'
import { labels } from '../../../crds/names.ts'
import { isTerminal } from '../../../crds/job-states.ts'
import type { Verdict } from '../../../db/jobs/lost-attempts.ts'
import type { OperatorJob } from '../../../db/jobs/resources.ts'
import { backoffMs } from '../../../lib/backoff.ts'
import { uidOf, type Job, type Pod } from '../../../lib/kube/objects.ts'
import { explainLostTrainer } from '../lost-trainer.ts'

/** A job that has pods of its own, and what there is of it in the cluster. */
export interface DedicatedFacts {
  job: Pick<OperatorJob, 'id' | 'state' | 'attempt' | 'suspend' | 'suspendedAt' | 'ahead' | 'block' | 'isUndecided'>
  /** That of its model; undefined while there is none. */
  baseModel: BaseModel | undefined
  /** The hash of the pods' current specification. */
  hash: string | undefined
  jobs: Job[]
  pods: Pod[]
  /** The uids of pods that have claimed it, or whose end is recorded. */
  knownPods: ReadonlySet<string>
  now: Date
}

export type DedicatedAction =
  | { do: 'create' | 'suspend' | 'resume' }
  | { do: 'delete'; name: string; uid: string; reason: string }
  | { do: 'recordFailedStart'; podUid: string; verdict: Verdict }
  | { do: 'none'; requeueAfterMs?: number }

const none = { do: 'none' } as const
// The wait after a failed attempt: 1 s, twice as long after each, at most 5 minutes.
const backoff = { baseMs: 1_000, maxMs: 300_000, jitter: 0 }

// Nothing tells the operator that a pause, or the day of a limit, is over.
const blockedMs = 5_000

/**
 * Plans the next step of a job that has pods of its own. There is at most one Job, and the next is made only when no pod
 * of the last is left: attempts never overlap. A finished or suspended job has none.
 */
export function planDedicated(facts: DedicatedFacts): DedicatedAction {
  const { job, jobs, pods } = facts
  const foreign = jobs.filter(({ metadata }) => metadata.labels?.[labels.job] !== job.id)
  if (foreign.length > 0) return planDeletion({ jobs: foreign }, 'it is of an earlier job of this name')
  const isSuspending = job.suspend && job.state !== 'Publishing'
  if (isTerminal(job.state) || isSuspending) {
    const left = planDeletion(facts, isSuspending ? 'the job is to be suspended' : `the job is ${job.state}`)
    if (left.do !== 'none' || isTerminal(job.state) || jobs.length + pods.length > 0) return left
    return job.state === 'Queued' && job.suspendedAt === null ? { do: 'suspend' } : none
  }
  if (job.suspendedAt !== null) return { do: 'resume' }
  if (job.state !== 'Queued') return none
  return jobs.length > 0 ? planNextAttempt(facts) : planCreation(facts)
}

function planCreation({ job, baseModel, pods }: DedicatedFacts): DedicatedAction {
  if (job.block !== null) return { do: 'none', requeueAfterMs: blockedMs }
  return baseModel && job.ahead === 0 && pods.length === 0 ? { do: 'create' } : none
}

/** The Job of a waiting job starts a pod, or it is over. */
function planNextAttempt(facts: DedicatedFacts): DedicatedAction {
  const { job, jobs, pods, hash, now } = facts
  const endedAt = Math.max(...jobs.map((each) => findEnd(each)?.getTime() ?? 0))
  if (endedAt === 0) {
    const isOutdated = hash !== undefined && jobs.some(({ metadata }) => metadata.labels?.[labels.specHash] !== hash)
    return isOutdated && pods.every(isStarting) ? planDeletion(facts, 'its specification is out of date') : none
  }
  // Until it is decided whether the last attempt counts, its pod is the evidence.
  if (job.isUndecided) return none
  const failed = pods.find((pod) => pod.status?.phase === 'Failed' && !facts.knownPods.has(uidOf(pod)))
  if (failed) return planRecord(failed, now)
  const waitMs = endedAt + backoffMs(Math.max(1, job.attempt), backoff) - now.getTime()
  return waitMs > 0 ? { do: 'none', requeueAfterMs: waitMs } : planDeletion(facts, 'its attempt is over')
}

function planRecord(pod: Pod, now: Date): DedicatedAction {
  const verdict = explainLostTrainer(pod, Infinity, now)
  return verdict ? { do: 'recordFailedStart', podUid: uidOf(pod), verdict } : none
}

function planDeletion({ jobs }: Pick<DedicatedFacts, 'jobs'>, reason: string): DedicatedAction {
  const found = jobs.find(({ metadata }) => metadata.deletionTimestamp === undefined)
  return found ? { do: 'delete', name: found.metadata.name ?? '', uid: uidOf(found), reason } : none
}

/** Nothing is lost with a pod whose container has not run. */
function isStarting({ status }: Pod): boolean {
  return status?.phase === undefined || status.phase === 'Pending'
}

/** When a Job ended, successfully or not. */
function findEnd({ status }: Job): Date | undefined {
  const end = status?.conditions?.find(({ type, status: holds }) => isEnd(type) && holds === 'True')
  return end && new Date(end.lastTransitionTime ?? 0)
}

function isEnd(type: string): boolean {
  return type === 'Failed' || type === 'Complete'
}
