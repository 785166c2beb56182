/** What webhooks may be called for: changes of a job's state, and of models. The outbox has these as its kinds. */
export const eventTypes = [
  'training_job.pending',
  'training_job.queued',
  'training_job.starting',
  'training_job.running',
  'training_job.publishing',
  'training_job.succeeded',
  'training_job.failed',
  'training_job.cancelled',
  'model.created',
  'model.deleted',
] as const

export type EventType = (typeof eventTypes)[number]
