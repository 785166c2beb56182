import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'

const secret = Type.String({ minLength: 1, maxLength: 512 })

/** POST /v1/preview/session: one of both. */
export const loginSchema = Type.Object(
  { api_key: Type.Optional(secret), code: Type.Optional(secret) },
  { minProperties: 1, maxProperties: 1, additionalProperties: false },
)

export type Login = Static<typeof loginSchema>

const time = Type.String({ format: 'date-time' })

/** Who sends a request. */
export const sessionSchema = Type.Object({
  kind: Type.Enum(['session', 'key'], { description: 'What the request was authenticated with.' }),
  entity: Type.String(),
  role: Type.Enum(['admin', 'member', 'read']),
  key_id: Type.String({ format: 'uuid', description: 'The key, or the key of the session.' }),
  created_at: nullable(time),
  expires_at: nullable({ ...time, description: 'When it ends if it is not used any more. Null for never.' }),
})
