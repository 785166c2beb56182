import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { callsFilterSchema } from '../query/calls-filter.ts'
import { querySchema } from '../query/schema.ts'

const time = Type.String({ format: 'date-time' })
const count = Type.Integer({ minimum: 0 })
const counted = Type.Array(Type.Object({ value: Type.String(), calls: count }))

export const callStatisticsQuery = Type.Object({
  filter: Type.Optional(callsFilterSchema),
  query: Type.Optional(querySchema),
  from: Type.Optional(time),
  to: Type.Optional(time),
  buckets: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Default: 60.' })),
})
export type CallStatisticsQuery = Static<typeof callStatisticsQuery>

export const callStatisticsSchema = Type.Object({
  calls: { ...count, description: 'The calls that are counted below.' },
  is_whole: Type.Boolean({
    description: 'Whether all calls that match are counted. Otherwise the newest 100,000 are.',
  }),
  from: nullable(time),
  to: nullable(time),
  buckets: Type.Array(Type.Object({ calls: count, errors: count }), {
    description: 'The calls that began in each of the equal parts of the time from `from` to `to`.',
  }),
  ops: { ...counted, description: 'The 50 most frequent values, without the versions of ops.' },
  statuses: counted,
  threads: counted,
  models: { ...counted, description: 'The models in `summary.usage` of the newest 10,000 calls.' },
})
