import type { TrainingJob } from '../../crds/generated.ts'
import { conditions, reasons } from '../../crds/names.ts'
import type { JobState } from '../../crds/job-states.ts'
import { explainBlock } from '../../db/jobs/queue-blocks.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import { boundMessage, buildCondition, mergeConditions, type ConditionInput, type StatusReason } from '../conditions.ts'
import { isStarting } from '../base-model/pod/reason.ts'
import type { OwnPods } from './dedicated/reconcile.ts'
import { describeOwnPods, explainOwnPods, explainSuspension, isFree, phaseOf } from './dedicated/status.ts'
import { isFinished } from './plan.ts'
import { describeStall, explainStall } from './stall.ts'

export type JobStatus = NonNullable<TrainingJob['status']>

/** The input of a job's status, besides its row. */
export interface JobContext {
  /** Why it is Pending. */
  wait: StatusReason | undefined
  /** The job was finished before this resource was created. */
  alreadyRan: boolean
  /** The name of the pod whose trainer works on it, although it has ended. */
  stoppingIn?: string | undefined
  /** The trainers of its base model, and the problem of the first one that is not Ready. */
  trainers: { wanted: number; ready: number; notReady: StatusReason | undefined }
  /** Of a job that has pods of its own. */
  ownPods?: OwnPods | undefined
  /** The name of the pod that has claimed it. */
  holderName: string | undefined
  /** How many engines loaded the checkpoint, if this process published it. */
  publication: Publication | undefined
  now: Date
}

/** The number of Ready engine pods at publishing, how many were asked to load the checkpoint, and how many did. */
export interface Publication {
  ready: number
  asked: number
  loaded: number
}

/** The status of a resource without a row: its references are not resolved yet. */
export function describeWaiting(resource: TrainingJob, wait: StatusReason, now: Date): JobStatus {
  const inputs = [buildCondition(conditions.accepted, false, wait)]
  return { phase: 'Pending', ...wait, ...mergeConditions(resource, inputs, now) }
}

/** The status of a job, from its row. */
export function describeJob(resource: TrainingJob, job: OperatorJob, context: JobContext): JobStatus {
  if (context.stoppingIn !== undefined) return describeStopping(resource, job, context)
  const why = context.alreadyRan ? explainAlreadyRan(job, context) : explain(job, context)
  const inputs = [
    ...describeProgressing(job, why),
    describePublished(resource, job, context.publication),
    ...describeStall(job, context.now),
    ...describeOwnPods(job, context.ownPods),
    ...describeEnd(job, why, context.ownPods),
  ]
  return { ...describeFacts(job, why), ...mergeConditions(resource, inputs, context.now) }
}

function describeFacts(job: OperatorJob, why: StatusReason): JobStatus {
  return {
    id: job.id,
    phase: phaseOf(job),
    reason: why.reason,
    message: boundMessage(why.message),
    attempt: job.attempt,
    ...(job.progressTotal !== null && { progress: describeProgress(job.progressStep, job.progressTotal) }),
    ...(job.checkpoint && { checkpoint: pick(job.checkpoint) }),
    ...(job.failure && { failure: { ...job.failure, message: boundMessage(job.failure.message) } }),
    ...(job.warnings.length > 0 && { warnings: job.warnings }),
    ...(job.startedAt && { startTime: seconds(job.startedAt) }),
    ...(job.finishedAt && { completionTime: seconds(job.finishedAt) }),
  }
}

/**
 * The status of a job that has ended, and whose trainer still computes: it is over when its GPUs are free. Clients of REST
 * see the end at once.
 */
function describeStopping(resource: TrainingJob, job: OperatorJob, context: JobContext): JobStatus {
  const { message } = explain(job, context)
  const why = {
    reason: reasons.stopping,
    message: `${message} The trainer in ${context.stoppingIn} has not dropped it yet.`,
  }
  const state = job.startedAt === null ? 'Starting' : 'Running'
  const unfinished: OperatorJob = { ...job, state, failure: null, finishedAt: null }
  const inputs = [
    ...describeProgressing(unfinished, why),
    describePublished(resource, unfinished, undefined),
    ...describeEnd(unfinished, why, undefined),
  ]
  return { ...describeFacts(unfinished, why), ...mergeConditions(resource, inputs, context.now) }
}

function explainAlreadyRan(job: OperatorJob, context: JobContext): StatusReason {
  return { reason: reasons.alreadyRan, message: `This job ran before: ${explain(job, context).message}` }
}

function explain(job: OperatorJob, context: JobContext): StatusReason {
  const trainer = context.holderName ?? 'a trainer'
  const suspended = context.ownPods && explainSuspension(job)
  if (suspended) return suspended
  const explanations: Record<JobState, () => StatusReason> = {
    Pending: () => context.wait ?? { reason: reasons.waitingForOperator, message: 'The operator is processing it.' },
    Queued: () => explainQueued(job, context),
    Starting: () => ({ reason: reasons.claimed, message: `Claimed by ${trainer}; no report yet.` }),
    Running: () => explainStall(job, context.now) ?? { reason: reasons.stepReported, message: `Trains in ${trainer}.` },
    Publishing: () => ({
      reason: reasons.loadingCheckpoint,
      message: 'Training has finished; the engines load the checkpoint.',
    }),
    Succeeded: () => ({ reason: reasons.succeeded, message: explainSuccess(job) }),
    Failed: () => job.failure ?? { reason: 'Failed', message: 'It failed.' },
    Cancelled: () => ({
      reason: reasons.cancelled,
      message: 'Cancelled over the API, by spec.cancel, or by deleting its resource.',
    }),
  }
  const { reason, message } = explanations[job.state]()
  return { reason, message }
}

/** Leaves out warnings that another one contains. */
function explainSuccess({ checkpoint, warnings }: OperatorJob): string {
  const messages = warnings.map(({ message }) => message)
  const distinct = messages.filter(
    (message, index) => !messages.slice(0, index).some((other) => other.includes(message)),
  )
  return [`Created step ${checkpoint?.step} of its model.`, ...distinct].join(' ')
}

/** Explains how the last attempt of a waiting job ended. A stopped trainer is not a failure. */
export function explainAttemptEnd(attempt: number, { reason = '', message = '' }: Partial<StatusReason>): string {
  const ended = reason === reasons.trainerStopped ? 'was given back' : 'failed'
  return `Attempt ${attempt} ${ended}: ${reason}: ${message}`
}

function explainQueued(job: OperatorJob, { trainers, ownPods, now }: JobContext): StatusReason {
  const retried = job.failure ? ` ${explainAttemptEnd(job.attempt, job.failure)}` : ''
  if (!job.hasBaseModel) return explainMissingBase(job.baseModel, retried)
  if (job.block) {
    const { reason, message } = explainBlock(job.block, now)
    return { reason, message: `${message}${retried}` }
  }
  if (job.ahead > 0) {
    const message = `Waits for job ${job.firstAhead} of its model, position ${job.ahead + 1}.${retried}`
    return { reason: reasons.waitingForModel, message }
  }
  const { notReady } = trainers
  if (ownPods) return explainOwnPods(job, ownPods, retried)
  const problem = notReady ? ` (${notReady.reason}: ${notReady.message})` : ''
  const message =
    `Waits for a trainer of ${job.baseModel}, position ${job.position}; ` +
    `${trainers.ready} of ${trainers.wanted} trainers are ready${problem}.${retried}`
  const isStuck = notReady && trainers.ready === 0 && !isStarting(notReady)
  return { reason: isStuck ? notReady.reason : reasons.waitingForTrainer, message }
}

function explainMissingBase(baseModel: string, retried: string): StatusReason {
  const message = `No BaseModel serves ${baseModel}, the base of its model. It waits until one is there again.${retried}`
  return { reason: reasons.baseModelNotFound, message }
}

/** The conditions Accepted and Progressing. */
function describeProgressing(job: OperatorJob, why: StatusReason): ConditionInput[] {
  const isActive = ['Starting', 'Running', 'Publishing'].includes(job.state)
  const isRejected = job.failure?.reason === reasons.inputNotAllowed
  const known = { reason: reasons.accepted, message: 'Its model and its input are known.' }
  const isAccepted = job.state !== 'Pending' && !isRejected
  return [
    buildCondition(conditions.accepted, isAccepted, isAccepted ? known : why),
    buildCondition(conditions.progressing, isActive, why),
  ]
}

/** The conditions Complete and Failed, and Finished, which is true for both. Then its GPUs are free. */
function describeEnd(job: OperatorJob, why: StatusReason, ownPods: OwnPods | undefined): ConditionInput[] {
  const hasEnded = isFinished(job) && isFree(ownPods)
  const message = isFinished(job) ? 'The job has ended. Its pod is being deleted.' : 'The job has not ended.'
  const reason = hasEnded ? why : { reason: reasons.notFinished, message }
  return [
    buildCondition(conditions.complete, hasEnded && job.state === 'Succeeded', reason),
    buildCondition(conditions.failed, hasEnded && (job.state === 'Failed' || job.state === 'Cancelled'), reason),
    buildCondition(conditions.finished, hasEnded, reason),
  ]
}

function describePublished(
  resource: TrainingJob,
  job: OperatorJob,
  publication: Publication | undefined,
): ConditionInput {
  const type = conditions.published
  const published = (reason: string, message: string) => buildCondition(type, true, { reason, message })
  const unpublished = (reason: string, message: string) => buildCondition(type, false, { reason, message })
  if (!job.checkpoint) return unpublished(reasons.notFinished, 'There is no checkpoint yet.')
  const { step } = job.checkpoint
  if (job.state !== 'Succeeded') {
    return unpublished(reasons.loadingCheckpoint, `Step ${step} is listed; the engines load it now.`)
  }
  const earlier = resource.status?.conditions?.find((each) => each.type === type && each.status === 'True')
  if (!publication) return earlier ?? published(reasons.published, `Step ${step} is listed and can be served.`)
  if (publication.ready === 0) {
    return published(reasons.engineAtZero, `No engine was ready. Step ${step} is loaded on its first request.`)
  }
  const { loaded, asked, ready } = publication
  const later = asked < ready ? ' The others load it with its first request.' : ''
  return published(reasons.published, `Step ${step} is loaded on ${loaded} of ${ready} ready engines.${later}`)
}

function describeProgress(step: number, totalSteps: number) {
  return { step, totalSteps, summary: `${step}/${totalSteps}` }
}

function pick({ step, uri, digest }: NonNullable<OperatorJob['checkpoint']>) {
  return { step, uri, digest }
}

/** The format of Kubernetes' times. */
function seconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}
