import { Type, type Static } from 'typebox'
import { callsFilterSchema } from '../query/calls-filter.ts'
import { querySchema, sortSchema } from '../query/schema.ts'
import { limitSchema, optional, projectIdSchema } from '../schema.ts'

const flag = optional(Type.Boolean())
const paths = optional(Type.Array(Type.String()))

const selection = {
  project_id: projectIdSchema,
  filter: optional(callsFilterSchema),
  query: optional(querySchema),
  limit: optional(limitSchema),
  // Each of these paths is looked up in every call.
  expand_columns: optional(Type.Array(Type.String(), { maxItems: 100 })),
}

export const callsQuerySchema = Type.Object({
  ...selection,
  offset: optional(limitSchema),
  sort_by: optional(sortSchema),
  columns: paths,
  include_costs: flag,
  include_feedback: flag,
  include_storage_size: flag,
  include_total_storage_size: flag,
  include_usernames: flag,
  return_expanded_column_values: flag,
})
export type CallsQuery = Static<typeof callsQuerySchema>

export const statsQuerySchema = Type.Object({ ...selection, include_total_storage_size: flag })
export type StatsQuery = Static<typeof statsQuerySchema>

export const statsSchema = Type.Object({
  count: Type.Integer(),
  total_storage_size_bytes: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
})

export const readBodySchema = Type.Object({
  project_id: projectIdSchema,
  id: Type.String(),
  include_costs: flag,
  include_storage_size: flag,
  include_total_storage_size: flag,
})
export type CallRead = Static<typeof readBodySchema>

export const callSchema = Type.Object({
  id: Type.String(),
  project_id: Type.String(),
  trace_id: Type.String(),
  op_name: Type.String(),
  started_at: Type.String(),
  attributes: Type.Object({}),
  inputs: Type.Object({}),
})
