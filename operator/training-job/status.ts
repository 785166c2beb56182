import type { TrainingJob } from '../../crds/generated.ts'
import { conditions, reasons } from '../../crds/names.ts'
import type { JobState } from '../../crds/job-states.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import { boundMessage, fact, mergeConditions, type Fact } from '../conditions.ts'
import { isFinished, type Wait } from './plan.ts'

export type JobStatus = NonNullable<TrainingJob['status']>

/** What is known of a job beside its row. */
export interface JobContext {
  /** why it is Pending */
  wait: Wait | undefined
  /** the job was over before this resource was made */
  alreadyRan: boolean
  /** the trainers of its base model, and what is wrong with the first that is not Ready */
  trainers: { wanted: number; ready: number; fault: string | undefined }
  /** name of the pod that has claimed it */
  holderName: string | undefined
  /** how the checkpoint came to the engines, as far as this process knows */
  publication: Publication | undefined
  now: Date
}

/** How many Ready engine pods there were at publishing, and how many of them loaded the checkpoint. */
export interface Publication {
  asked: number
  loaded: number
}

interface StatusReason {
  reason: string
  message: string
}

/** The status of a resource without a row: its references are not resolved yet. */
export function describeWaiting(resource: TrainingJob, wait: Wait, now: Date): JobStatus {
  const generation = resource.metadata.generation ?? 0
  const facts = [fact(conditions.accepted, false, wait.reason, wait.message)]
  return {
    observedGeneration: generation,
    phase: 'Pending',
    ...wait,
    conditions: mergeConditions(resource.status?.conditions, facts, generation, now),
  }
}

/** The status of a job, from its row. */
export function describeJob(resource: TrainingJob, job: OperatorJob, around: JobContext): JobStatus {
  const told = tell(job, around)
  const generation = resource.metadata.generation ?? 0
  const facts = describeConditions(resource, job, told, around)
  return {
    observedGeneration: generation,
    id: job.id,
    phase: job.state,
    reason: told.reason,
    message: boundMessage(told.message),
    attempt: job.attempt,
    ...(job.progressTotal !== null && { progress: describeProgress(job.progressStep, job.progressTotal) }),
    ...(job.checkpoint && { checkpoint: pick(job.checkpoint) }),
    ...(job.failure && { failure: { ...job.failure, message: boundMessage(job.failure.message) } }),
    ...(job.warnings.length > 0 && { warnings: job.warnings }),
    ...(job.startedAt && { startTime: seconds(job.startedAt) }),
    ...(job.finishedAt && { completionTime: seconds(job.finishedAt) }),
    conditions: mergeConditions(resource.status?.conditions, facts, generation, around.now),
  }
}

function tell(job: OperatorJob, around: JobContext): StatusReason {
  const told = explain(job, around)
  return around.alreadyRan ? { reason: reasons.alreadyRan, message: `This job ran before: ${told.message}` } : told
}

function explain(job: OperatorJob, around: JobContext): StatusReason {
  const trainer = around.holderName ?? 'a trainer'
  const tellings: Record<JobState, () => StatusReason> = {
    Pending: () => around.wait ?? { reason: reasons.waitingForOperator, message: 'The operator is taking it in.' },
    Queued: () => explainQueued(job, around),
    Starting: () => ({ reason: reasons.claimed, message: `Claimed by ${trainer}, nothing reported yet.` }),
    Running: () => ({ reason: reasons.stepReported, message: `Trains in ${trainer}.` }),
    Publishing: () => ({ reason: reasons.loadingCheckpoint, message: 'Trained; the engines load its checkpoint.' }),
    Succeeded: () => ({ reason: reasons.succeeded, message: explainSuccess(job) }),
    Failed: () => job.failure ?? { reason: 'Failed', message: 'It failed.' },
    Cancelled: () => ({
      reason: reasons.cancelled,
      message: 'Cancelled over the API, by spec.cancel, or by deleting its resource.',
    }),
  }
  const { reason, message } = tellings[job.state]()
  return { reason, message }
}

/** What one warning says in the words of another is not said again. */
function explainSuccess({ checkpoint, warnings }: OperatorJob): string {
  const messages = warnings.map(({ message }) => message)
  const telling = messages.filter((message, place) => !messages.slice(0, place).some((said) => said.includes(message)))
  return [`Made step ${checkpoint?.step} of its model.`, ...telling].join(' ')
}

/** How the last attempt of a job that waits again ended. A stopped trainer is no failure. */
export function explainAttemptEnd(attempt: number, { reason = '', message = '' }: Partial<StatusReason>): string {
  const ended = reason === reasons.trainerStopped ? 'was given back' : 'failed'
  return `Attempt ${attempt} ${ended}: ${reason}: ${message}`
}

function explainQueued(job: OperatorJob, { trainers }: JobContext): StatusReason {
  const retried = job.failure ? ` ${explainAttemptEnd(job.attempt, job.failure)}` : ''
  if (job.ahead > 0) {
    const message = `Waits for job ${job.firstAhead} of its model, place ${job.ahead + 1}.${retried}`
    return { reason: reasons.waitingForModel, message }
  }
  const fault = trainers.fault ? ` (${trainers.fault})` : ''
  const message =
    `Waits for a trainer of ${job.baseModel}, place ${job.place}; ` +
    `${trainers.ready} of ${trainers.wanted} trainers run${fault}.${retried}`
  return { reason: reasons.waitingForTrainer, message }
}

function describeConditions(resource: TrainingJob, job: OperatorJob, told: StatusReason, around: JobContext): Fact[] {
  const isActive = ['Starting', 'Running', 'Publishing'].includes(job.state)
  const hasFailed = job.state === 'Failed' || job.state === 'Cancelled'
  const unfinished: StatusReason = { reason: reasons.notFinished, message: 'The job is not over.' }
  const over = (holds: boolean): StatusReason => (holds || isFinished(job) ? told : unfinished)
  return [
    describeAccepted(job, told),
    fact(conditions.progressing, isActive, told.reason, told.message),
    describePublished(resource, job, around.publication),
    outcome(conditions.complete, job.state === 'Succeeded', over(job.state === 'Succeeded')),
    outcome(conditions.failed, hasFailed, over(hasFailed)),
  ]
}

function describeAccepted(job: OperatorJob, told: StatusReason): Fact {
  const isRefused = job.failure?.reason === reasons.inputNotAllowed
  if (job.state === 'Pending' || isRefused) return outcome(conditions.accepted, false, told)
  return fact(conditions.accepted, true, reasons.accepted, 'Its model and its input are known.')
}

function describePublished(resource: TrainingJob, job: OperatorJob, publication: Publication | undefined): Fact {
  const type = conditions.published
  if (!job.checkpoint) return fact(type, false, reasons.notFinished, 'There is no checkpoint yet.')
  const { step } = job.checkpoint
  if (job.state !== 'Succeeded') {
    return fact(type, false, reasons.loadingCheckpoint, `Step ${step} is listed; the engines load it now.`)
  }
  const earlier = resource.status?.conditions?.find((each) => each.type === type && each.status === 'True')
  if (!publication) return earlier ?? fact(type, true, reasons.published, `Step ${step} is listed and can be served.`)
  if (publication.asked === 0) {
    return fact(type, true, reasons.engineAtZero, `No engine was ready; step ${step} is loaded when it is asked for.`)
  }
  const { loaded, asked } = publication
  return fact(type, true, reasons.published, `Step ${step} is loaded on ${loaded} of ${asked} ready engines.`)
}

function outcome(type: string, holds: boolean, { reason, message }: StatusReason): Fact {
  return fact(type, holds, reason, message)
}

function describeProgress(step: number, totalSteps: number) {
  return { step, totalSteps, summary: `${step}/${totalSteps}` }
}

function pick({ step, uri, digest }: NonNullable<OperatorJob['checkpoint']>) {
  return { step, uri, digest }
}

/** Kubernetes' Time. */
function seconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}
