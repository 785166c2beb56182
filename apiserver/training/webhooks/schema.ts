import { eventTypes } from '../../../db/webhooks/event-types.ts'
import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { nameSchema } from '../../accounts/names.ts'

/** The events that a webhook can subscribe to: a job's states, and models. */
const eventType = Type.Enum([...eventTypes])

/** The events of a webhook whose creator named none. */
export const defaultEvents = ['training_job.succeeded', 'training_job.failed', 'training_job.cancelled'] as const

const uuid = Type.String({ format: 'uuid' })
const time = Type.String({ format: 'date-time' })

/** POST /v1/preview/webhooks. */
export const webhookCreateSchema = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 4096 }),
  events: Type.Optional(nullable(Type.Array(eventType, { minItems: 1, maxItems: 10 }))),
  project: Type.Optional(nullable(nameSchema)),
  // No NUL: Postgres does not accept it.
  description: Type.Optional(nullable(Type.String({ maxLength: 512, pattern: '^[^\\u0000]*$' }))),
})

export type WebhookCreate = Static<typeof webhookCreateSchema>

/** POST /v1/preview/webhooks/{webhook_id}/replay. */
export const replaySchema = Type.Object({
  after: Type.Optional(nullable(time)),
  after_position: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
})

export type Replay = Static<typeof replaySchema>

/** A webhook as its entity sees it. */
export const webhookSchema = Type.Object({
  id: uuid,
  url: Type.String(),
  events: Type.Array(eventType),
  project: nullable(Type.String()),
  description: nullable(Type.String()),
  consecutive_failures: Type.Integer(),
  created_at: time,
})

/** A webhook with its signing secret, which is only shown once. */
export const newWebhookSchema = Type.Object({ ...webhookSchema.properties, secret: Type.String() })

export const deliverySchema = Type.Object({
  id: uuid,
  event_id: uuid,
  type: eventType,
  subject_id: uuid,
  position: Type.Integer(),
  state: Type.Enum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer(),
  last_status: nullable(Type.Integer()),
  last_error: nullable(Type.String()),
  next_attempt_at: nullable(time),
  created_at: time,
  delivered_at: nullable(time),
})

export const deletedWebhookSchema = Type.Object({ id: uuid, deleted: Type.Literal(true) })

export const replayedSchema = Type.Object({ replayed: Type.Integer() })
