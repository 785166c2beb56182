import { Type } from 'typebox'
import { auditActions } from '../../../db/accounts/audit-log.ts'
import { orderedPageQuery } from '../../../lib/http/page.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'

const action = Type.Enum([...auditActions])
const time = Type.String({ format: 'date-time' })

/** GET /v1/preview/audit-log. */
export const auditQuerySchema = Type.Object({
  ...orderedPageQuery.properties,
  action: Type.Optional(action),
  from: Type.Optional(time),
  to: Type.Optional(time),
})

/** An act as the admins of its entity see it. */
export const actSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  at: time,
  entity: Type.String(),
  actor: Type.String(),
  action,
  subject: nullable(Type.String()),
  details: Type.Record(Type.String(), Type.Unknown()),
})
