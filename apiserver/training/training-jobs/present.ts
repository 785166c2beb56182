import { reasons } from '../../../crds/names.ts'
import type { AdapterLoad } from '../../../db/engines/loaded-adapters.ts'
import type { EventRow } from '../../../db/jobs/events.ts'
import type { LogLine } from '../../../db/jobs/logs.ts'
import { explainBlock } from '../../../db/jobs/queue-blocks.ts'
import type { JobView } from '../../../db/jobs/views.ts'
import { presentRequested } from '../settings/request.ts'
import type { getJobDetail } from './service.ts'

/** A training job as clients see it. Clients only need its id; the rest is for people. */
export function presentTrainingJob(job: JobView) {
  const timeline = presentTimeline(job)
  return {
    id: job.id,
    model_id: job.modelId,
    method: job.method,
    retry_of: job.retryOf,
    state: job.state,
    attempt: job.attempt,
    max_attempts: job.maxAttempts,
    step: job.step,
    progress: { step: job.progressStep, total_steps: job.progressTotal },
    queue: job.queue && presentQueue(job.queue, job.mode),
    checkpoint: job.checkpoint,
    ...presentRequested(job),
    failure: job.failure && presentFailure(job.failure),
    warnings: job.warnings,
    timeline,
    created_at: timeline.created_at,
    started_at: timeline.started_at,
    finished_at: timeline.finished_at,
  }
}

/** A single job as clients see it. */
export function presentJobDetail({ job, waiting, startsAt, loads }: Awaited<ReturnType<typeof getJobDetail>>) {
  return {
    ...presentTrainingJob(job),
    waiting: waiting && { ...waiting, estimated_start_at: presentTime(startsAt) },
    loads: loads.map(presentLoad),
  }
}

function presentQueue({ ahead, position, hasBaseModel, block }: NonNullable<JobView['queue']>, mode: JobView['mode']) {
  if (!hasBaseModel) {
    const message = 'No base model serves its model now. It waits until the base model is there again.'
    return { position: ahead === 0 ? position : ahead + 1, reason: reasons.baseModelNotFound, message }
  }
  if (block) {
    return { position: ahead === 0 ? position : ahead + 1, ...explainBlock(block, new Date()) }
  }
  if (ahead === 0 && mode === 'Dedicated') {
    return { position: position, reason: reasons.waitingForPod, message: 'Waits for a pod of its own.' }
  }
  if (ahead === 0) {
    return {
      position: position,
      reason: reasons.waitingForTrainer,
      message: `Position ${position} in the queue for a trainer.`,
    }
  }
  const message = `Waits for ${ahead} job${ahead === 1 ? '' : 's'} of its model before it.`
  return { position: ahead + 1, reason: reasons.waitingForModel, message }
}

function presentFailure({ category, reason, message, retryable }: NonNullable<JobView['failure']>) {
  return { category, code: reason, message, retryable }
}

function presentTimeline(job: JobView) {
  return {
    created_at: job.createdAt.toISOString(),
    queued_at: presentTime(job.queuedAt),
    claimed_at: presentTime(job.claimedAt),
    started_at: presentTime(job.startedAt),
    trained_at: presentTime(job.trainedAt),
    published_at: presentTime(job.state === 'Succeeded' ? job.finishedAt : null),
    finished_at: presentTime(job.finishedAt),
  }
}

function presentTime(time: Date | null): string | null {
  return time?.toISOString() ?? null
}

/** What an engine pod says about the checkpoint of a job. */
function presentLoad({ pod, at, error }: AdapterLoad) {
  return { pod, at: at.toISOString(), error }
}

/** A gradient step has its number, from 1, beside its data, because clients average every number in the data. */
export function presentEvent({ id, seq, type, data, createdAt }: EventRow) {
  const step = type === 'gradient_step' ? seq : null
  return { id, type, data, gradient_step: step, created_at: createdAt.toISOString() }
}

/** A line of a job's log. Its id, which cursors use, is its position. */
export function presentLogLine({ attempt, seq, at, level, text }: LogLine) {
  return { id: `${attempt}-${seq}`, attempt, time: at.toISOString(), level, text }
}

/** Formats lines of a job's log for people. */
export function presentLogText(lines: LogLine[]): string {
  return lines.map(({ at, level, text }) => `${at.toISOString()} ${level} ${text}\n`).join('')
}
