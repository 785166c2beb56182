import type { EventRow } from '../../../db/queries/events.ts'
import type { TrainingJobRow } from '../../../db/queries/training-jobs.ts'

/** A training job as clients see it. They need its id; the rest is for people. */
export function presentTrainingJob(job: TrainingJobRow) {
  return {
    id: job.id,
    model_id: job.modelId,
    method: job.method,
    state: job.state,
    attempt: job.attempt,
    step: job.step,
    progress: { step: job.progressStep, total_steps: job.progressTotal },
    experimental_config: job.config,
    failure: job.failure,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
  }
}

export function presentEvent({ id, type, data }: EventRow) {
  return { id, type, data }
}
