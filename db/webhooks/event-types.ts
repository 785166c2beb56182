/**
 * The events that webhooks can subscribe to: changes of jobs' states and of models. They are the kinds of the outbox.
 */
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
