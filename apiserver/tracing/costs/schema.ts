import { Type, type Static } from 'typebox'
import { optional, projectIdSchema } from '../schema.ts'

const shortSchema = optional(Type.String({ maxLength: 256 }))

/** The price of a model's tokens. */
const costSchema = Type.Object({
  prompt_token_cost: Type.Number(),
  completion_token_cost: Type.Number(),
  prompt_token_cost_unit: shortSchema,
  completion_token_cost_unit: shortSchema,
  /** The default is now. */
  effective_date: optional(Type.String({ format: 'date-time' })),
  provider_id: shortSchema,
  cache_read_input_token_cost: optional(Type.Number()),
  cache_creation_input_token_cost: optional(Type.Number()),
})

export type WireCost = Static<typeof costSchema>

/** POST /cost/create. The model names are in an index, whose entries may have about 2,700 bytes. */
export const costCreateSchema = Type.Object({
  project_id: projectIdSchema,
  costs: Type.Unsafe<Record<string, WireCost>>({
    type: 'object',
    propertyNames: { maxLength: 256 },
    additionalProperties: costSchema,
  }),
})

export const costIdsSchema = Type.Object({ ids: Type.Array(Type.Array(Type.String())) })
export const costRowsSchema = Type.Object({ results: Type.Array(Type.Object({})) })
