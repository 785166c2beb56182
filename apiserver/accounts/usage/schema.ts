import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { modelIdSchema, nameSchema } from '../names.ts'

const dimension = '(project|model|key|hour|day)'
const time = Type.String({ format: 'date-time' })
const uuid = Type.String({ format: 'uuid' })

/** GET /v1/preview/usage. */
export const usageQuerySchema = Type.Object({
  from: Type.Optional(time),
  to: Type.Optional(time),
  // Some of project, model, key, hour and day, separated by commas. Without it, one sum of all.
  group_by: Type.Optional(
    Type.String({
      pattern: `^${dimension}(,${dimension}){0,4}$`,
      description: 'One or more of project, model, key, hour and day, separated by commas.',
    }),
  ),
  project: Type.Optional(nameSchema),
  model_id: Type.Optional(modelIdSchema),
  key_id: Type.Optional(uuid),
  after: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
})

export type UsageRequest = Static<typeof usageQuerySchema>

const optionalText = Type.Optional(nullable(Type.String()))
const count = Type.Integer({ minimum: 0 })

/** The usage of one group. Only the requested members that name the group are present. */
export const usageSchema = Type.Object({
  id: Type.String(),
  project: optionalText,
  model: Type.Optional(Type.String()),
  model_id: optionalText,
  key_id: optionalText,
  hour: Type.Optional(Type.String()),
  day: Type.Optional(Type.String()),
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  trained_tokens: count,
  training_seconds: Type.Number({ minimum: 0 }),
  gpu_seconds: Type.Number({ minimum: 0 }),
})
