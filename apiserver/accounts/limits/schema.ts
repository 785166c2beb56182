import { Type } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { traceProjectDescription, traceProjectSchema } from '../trace-project.ts'

const limit = nullable(Type.Integer({ minimum: 0 }))

const tokenStatistics = Type.Enum(['off', 'sampled', 'all'], {
  description: 'Which token statistics are stored: none, those of about one trajectory in 16, or all.',
})

/** PUT .../token-statistics: null restores the default. */
export const tokenStatisticsBodySchema = Type.Object({ token_statistics: nullable(tokenStatistics) })

/** PUT .../trace-project: null has the same effect as `off`. */
export const traceProjectBodySchema = Type.Object({ trace_project: traceProjectSchema })

/** PUT .../paused. */
export const pausedBodySchema = Type.Object({ paused: Type.Boolean() })

/** An entity's limits (null for no limit) and its current usage. */
export const limitsSchema = Type.Object({
  entity: Type.String(),
  requests_per_minute: limit,
  tokens_per_minute: limit,
  concurrent_streams: limit,
  event_streams: limit,
  queued_jobs: limit,
  stored_bytes: limit,
  gpu_seconds_per_day: nullable(
    Type.Number({ minimum: 0, description: 'GPU seconds of training on a day (UTC). Beyond it, jobs wait.' }),
  ),
  payload_days: limit,
  run_days: limit,
  weight: Type.Number({
    description: 'The weight of the entity when entities wait for the same resource.',
  }),
  token_statistics: tokenStatistics,
  trace_project: Type.String({ description: traceProjectDescription }),
  paused: Type.Boolean({ description: 'Whether an admin of the entity has paused its jobs that wait.' }),
  paused_by_administrator: Type.Boolean({
    description: 'Whether the administrator of the installation has paused them, or those of all entities.',
  }),
  in_use: Type.Object({
    queued_jobs: Type.Integer(),
    stored_bytes: Type.Integer(),
    gpu_seconds_today: Type.Number({ description: 'Of attempts that ended on this day (UTC), and that run now.' }),
  }),
})
