import type { JobPhase } from '../../../crds/job-states.ts'
import { conditions, reasons } from '../../../crds/names.ts'
import type { OperatorJob } from '../../../db/jobs/resources.ts'
import { isStarting } from '../../base-model/pod/reason.ts'
import { buildCondition, type ConditionInput, type StatusReason } from '../../conditions.ts'
import type { OwnPods } from './reconcile.ts'

/** What people see of a job. db/jobs/states.ts has the same as SQL. */
export function phaseOf({ state, suspend, suspendedAt }: OperatorJob): JobPhase {
  if (!suspend || !['Queued', 'Starting', 'Running'].includes(state)) return state
  return suspendedAt === null ? 'Suspending' : 'Suspended'
}

/** Whether a job has no pods of its own any more. */
export function isFree(ownPods: OwnPods | undefined): boolean {
  return ownPods?.isGone ?? true
}

/** Why a job does not go on that is suspended, or is about to be. */
export function explainSuspension(job: OperatorJob): StatusReason | undefined {
  const phase = phaseOf(job)
  if (phase === 'Suspending') return { reason: reasons.suspending, message: 'Its pod saves its progress and ends.' }
  if (phase !== 'Suspended') return undefined
  const saved =
    job.progressStep > 0 ? `continues after its last save, up to gradient step ${job.progressStep}` : 'begins'
  return { reason: reasons.suspended, message: `It has no pods. It ${saved} when spec.suspend is false again.` }
}

/** Why a job waits that has pods of its own and is the first of its model. @param retried how its last attempt ended */
export function explainOwnPods(job: OperatorJob, { isHeld, isGone, notReady }: OwnPods, retried: string): StatusReason {
  if (isHeld) {
    const message = `Waits until Kueue admits its pod from the queue ${job.queueName}.${retried}`
    return { reason: reasons.waitingForQuota, message }
  }
  if (isGone || !notReady) return { reason: reasons.waitingForPod, message: `Waits for a pod of its own.${retried}` }
  const message = `Waits for a pod of its own (${notReady.reason}: ${notReady.message}).${retried}`
  return { reason: isStarting(notReady) ? reasons.waitingForPod : notReady.reason, message }
}

/** Why a job waits, as far as its own pods tell. Null for one that does not wait, or whose pods only need time. */
export function findWaitingReason(job: OperatorJob, ownPods: OwnPods): string | null {
  if (phaseOf(job) !== 'Queued') return null
  const { reason } = explainOwnPods(job, ownPods, '')
  return reason === reasons.waitingForPod ? null : reason
}

/** The conditions of a job that has pods of its own. */
export function describeOwnPods(job: OperatorJob, ownPods: OwnPods | undefined): ConditionInput[] {
  if (!ownPods) return []
  return [...describeQuota(job, ownPods), describeReady(ownPods), describeSuspended(job)]
}

function describeQuota({ queueName }: OperatorJob, { isHeld, isGone }: OwnPods): ConditionInput[] {
  if (queueName === null) return []
  const isReserved = !isHeld && !isGone
  const message = isReserved ? `Kueue has admitted it from the queue ${queueName}.` : `Kueue has not admitted it.`
  const reason = isReserved ? reasons.quotaReserved : reasons.waitingForQuota
  return [buildCondition(conditions.quotaReserved, isReserved, { reason, message })]
}

function describeReady({ podName, notReady }: OwnPods): ConditionInput {
  const isReady = podName !== undefined && !notReady
  if (isReady) {
    const message = `Pod ${podName} is Ready.`
    return buildCondition(conditions.podsReady, true, { reason: reasons.podsReady, message })
  }
  const none = { reason: reasons.podNotReady, message: 'It has no pod.' }
  return buildCondition(conditions.podsReady, false, notReady ?? none)
}

function describeSuspended(job: OperatorJob): ConditionInput {
  const isSuspended = phaseOf(job) === 'Suspended'
  const resumed = { reason: reasons.resumed, message: 'It is not suspended.' }
  return buildCondition(conditions.suspended, isSuspended, explainSuspension(job) ?? resumed)
}
