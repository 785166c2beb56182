import { isTrainingData, uriPrefixOf } from '../../artifacts/layout.ts'
import type { TrainingJob } from '../../crds/generated.ts'
import { isRowsMethod } from '../../crds/methods.ts'
import { reasons } from '../../crds/names.ts'
import { isTerminal } from '../../crds/job-states.ts'
import { defaultMaxAttempts, type JobFailure } from '../../db/jobs/attempts.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import type { JobModel } from '../../db/models/resources.ts'
import { artifactKey } from '../../artifacts/store/keys.ts'

import { findDeadline } from './deadlines.ts'
import type { StatusReason } from '../conditions.ts'

/** A TrainingJob resource, what it refers to, and its row. */
export interface JobFacts {
  resource: TrainingJob
  modelExists: boolean
  /** The row of its model, if that is accepted. */
  model: JobModel | undefined
  /** The PriorityClasses that its base model allows. */
  priorityClassNames: readonly string[]
  job: OperatorJob | undefined
  /** A trainer that works on it, although it has ended: the name of its pod. */
  stoppingIn?: string | undefined
  now: Date
}

export type JobPlan =
  | { do: 'insert'; modelId: string; maxAttempts: number }
  | { do: 'queue' | 'cancel'; id: string }
  | { do: 'fail'; id: string; failure: JobFailure }
  | { do: 'limit'; id: string; maxAttempts: number }
  | { do: 'wantSuspended'; id: string; asked: boolean | null }
  | { do: 'delete' }
  | { do: 'none'; wait?: StatusReason; requeueAfterMs?: number; fetchInputOf?: string }

/** How often it is looked whether the trainer's pod is lost. That it has dropped the job, it says. */
export const stoppingMs = 1_000

/** Whether a job's state is terminal. */
export function isFinished(job: Pick<OperatorJob, 'state'>): boolean {
  return isTerminal(job.state)
}

/** Whether a job has ended. A resource without a row, for instance after a restore, stays what its status says. */
export function hasEnded({ resource, job }: Pick<JobFacts, 'resource' | 'job'>): boolean {
  return job ? isFinished(job) : isTerminal(resource.status?.phase ?? 'Pending')
}

/** Plans the next step of a job. A finished job never starts again. */
export function planJob(facts: JobFacts): JobPlan {
  const { resource, job, now } = facts
  if (facts.stoppingIn !== undefined) return { do: 'none', requeueAfterMs: stoppingMs }
  if (hasEnded(facts)) return planFinished(facts)
  if (job && resource.spec.cancel) return { do: 'cancel', id: job.id }
  if (!job) return planArrival(facts)
  const deadline = findDeadline(job)
  if (deadline && deadline.at <= now) return { do: 'fail', id: job.id, failure: deadline.failure }
  if (job.maxAttempts !== wantAttempts(resource)) {
    return { do: 'limit', id: job.id, maxAttempts: wantAttempts(resource) }
  }
  const suspension = planSuspension(resource, job)
  if (suspension) return suspension
  const plan: JobPlan = job.state === 'Pending' ? planQueueing(facts, job) : { do: 'none' }
  if (plan.do !== 'none' || !deadline) return plan
  return { ...plan, requeueAfterMs: deadline.at.getTime() - now.getTime() }
}

/** The resource says what is wanted. What was asked over REST is written into it. */
function planSuspension({ spec }: TrainingJob, { id, suspend, suspendAsked: asked }: OperatorJob): JobPlan | undefined {
  return asked !== null || suspend !== (spec.suspend ?? false) ? { do: 'wantSuspended', id, asked } : undefined
}

function planFinished({ resource: { spec, status }, job, now }: JobFacts): JobPlan {
  const seconds = spec.ttlSecondsAfterFinished
  const finishedMs = job ? job.finishedAt?.getTime() : Date.parse(status?.completionTime ?? '')
  if (seconds === undefined || finishedMs === undefined || Number.isNaN(finishedMs)) return { do: 'none' }
  const requeueAfterMs = finishedMs + seconds * 1000 - now.getTime()
  return requeueAfterMs <= 0 ? { do: 'delete' } : { do: 'none', requeueAfterMs }
}

/** A resource from kubectl gets its row, and with it a place in the queue, as soon as its model has a row. */
function planArrival(facts: JobFacts): JobPlan {
  const wait = findObstacle(facts)
  if (wait || !facts.model) return { do: 'none', wait: wait ?? modelNotAccepted(facts.resource) }
  return { do: 'insert', modelId: facts.model.id, maxAttempts: wantAttempts(facts.resource) }
}

function planQueueing(facts: JobFacts, job: OperatorJob): JobPlan {
  const wait = findObstacle(facts)
  if (wait) return { do: 'none', wait }
  if (isInputOpen(job)) return { do: 'none', wait: fetchingInput(job), fetchInputOf: job.id }
  if (!isInputAllowed(job)) return { do: 'fail', id: job.id, failure: inputNotAllowed(job) }
  return { do: 'queue', id: job.id }
}

function findObstacle({ resource, modelExists, model, ...facts }: JobFacts): StatusReason | undefined {
  const { modelRef, priorityClassName } = resource.spec
  const { name } = modelRef
  if (!modelExists) return { reason: reasons.modelNotFound, message: `There is no Model ${name} yet.` }
  if (!model) return modelNotAccepted(resource)
  if (!model.served) {
    return {
      reason: reasons.baseModelNotFound,
      message: `No BaseModel serves ${model.baseModel}, the base of its model.`,
    }
  }
  if (priorityClassName !== undefined && !facts.priorityClassNames.includes(priorityClassName)) {
    return {
      reason: reasons.priorityClassNotAllowed,
      message: `The base model of its model does not allow the PriorityClass ${priorityClassName} (trainer.priorityClassNames).`,
    }
  }
  return undefined
}

function modelNotAccepted({ spec }: TrainingJob): StatusReason {
  return { reason: reasons.modelNotAccepted, message: `Model ${spec.modelRef.name} is not accepted (yet).` }
}

/**
 * Whether the rows of a job must still be resolved, and perhaps fetched into the store, before the job is queued.
 */
export function isInputOpen({ method, inputUri, inputDigest }: OperatorJob): boolean {
  return isRowsMethod(method) && (inputDigest === null || artifactKey(inputUri) === undefined)
}

function fetchingInput({ inputError }: OperatorJob): StatusReason {
  const lastError = inputError === null ? '' : ` The last attempt failed: ${inputError}.`
  return { reason: reasons.fetchingInput, message: `Its training data are being fetched.${lastError}` }
}

/** A job can only read data of its entity. */
function isInputAllowed({ inputUri, entity }: OperatorJob): boolean {
  return isTrainingData(artifactKey(inputUri) ?? '', entity)
}

function inputNotAllowed({ entity }: OperatorJob): JobFailure {
  const message = `spec.inputRef.uri must begin with ${uriPrefixOf('payload')}${entity}/ (the entity of the model)`
  return { category: 'User', reason: reasons.inputNotAllowed, message, retryable: false }
}

function wantAttempts({ spec }: TrainingJob): number {
  return spec.retry?.limit === undefined ? defaultMaxAttempts : spec.retry.limit + 1
}
