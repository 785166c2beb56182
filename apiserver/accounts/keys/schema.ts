import { Type } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { traceProjectSchema } from '../trace-project.ts'

const role = Type.Enum(['admin', 'member', 'read'])
const time = Type.String({ format: 'date-time' })
const uuid = Type.String({ format: 'uuid' })
// A century, so that every date fits.
const maxLifeSeconds = 100 * 366 * 86_400
const maxOverlapSeconds = 30 * 86_400

/** POST /v1/preview/keys. */
export const keyCreateSchema = Type.Object({
  // No NUL: Postgres does not accept it.
  name: Type.Optional(nullable(Type.String({ maxLength: 128, pattern: '^[^\\u0000]*$' }))),
  role: Type.Optional(nullable(role)),
  expires_at: Type.Optional(nullable(time)),
  expires_in_seconds: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: maxLifeSeconds }))),
  trace_project: Type.Optional(traceProjectSchema),
})

/** POST /v1/preview/keys/{key_id}/rotate. */
export const keyRotateSchema = Type.Object({
  overlap_seconds: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: maxOverlapSeconds }))),
})

/** PUT /v1/preview/keys/{key_id}/trace-project: null is the setting of the entity. */
export const keyTraceProjectSchema = Type.Object({ trace_project: traceProjectSchema })

/** A key as its entity's admins see it. */
export const keySchema = Type.Object({
  id: uuid,
  name: nullable(Type.String()),
  role,
  prefix: nullable(Type.String()),
  created_at: time,
  expires_at: nullable(time),
  revoked_at: nullable(time),
  last_used_at: nullable(time),
  replaced_by: nullable(uuid),
  trace_project: traceProjectSchema,
})

/** The only answer that contains the key itself. */
export const newKeySchema = Type.Object({ ...keySchema.properties, key: Type.String() })
