import { Type } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'

/** An erasure and its report. */
export const erasureSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  entity: Type.String(),
  project: nullable(Type.String()),
  state: Type.Enum(['running', 'done']),
  requested_at: Type.String({ format: 'date-time' }),
  finished_at: nullable(Type.String({ format: 'date-time' })),
  report: Type.Record(Type.String(), Type.Integer()),
})
