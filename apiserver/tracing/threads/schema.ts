import { Type } from 'typebox'
import { threadSortFields } from '../../../db/tracing/threads.ts'
import { sortSchema } from '../query/schema.ts'
import { limitSchema, optional, projectIdSchema } from '../schema.ts'

const timeSchema = Type.String({ format: 'date-time' })

/** POST /threads/stream_query. */
export const threadsQuerySchema = Type.Object({
  project_id: projectIdSchema,
  filter: optional(
    Type.Object({
      after_datetime: optional(timeSchema),
      before_datetime: optional(timeSchema),
      thread_ids: optional(Type.Array(Type.String())),
    }),
  ),
  limit: optional(limitSchema),
  offset: optional(limitSchema),
  sort_by: optional({ ...sortSchema, description: `By ${threadSortFields.join(', ')}.` }),
})

export const threadSchema = Type.Object({
  thread_id: Type.String(),
  turn_count: Type.Integer(),
  start_time: timeSchema,
  last_updated: timeSchema,
  first_turn_id: Type.String(),
  last_turn_id: Type.String(),
  p50_turn_duration_ms: Type.Number(),
  p99_turn_duration_ms: Type.Number(),
})
