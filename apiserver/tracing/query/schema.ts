import { Type } from 'typebox'
import { limitSchema, optional, projectIdSchema } from '../schema.ts'

/** A condition. expression.ts validates `$expr`. */
export const querySchema = Type.Object({
  $expr: Type.Unsafe<unknown>({
    type: 'object',
    description:
      'One of `$and`, `$or` (lists of operands), `$not` (a list of one), `$eq`, `$gt`, `$gte`, `$lt`, `$lte` (pairs), ' +
      '`$in` (an operand and a list) and `$contains` (`input`, `substr`, `case_insensitive`). Operands are ' +
      '`{"$literal": …}`, `{"$getField": "a.path"}`, `{"$convert": {"input": …, "to": …}}` (double, int, string, bool, ' +
      'exists) and these operations themselves.',
  }),
})

export const sortSchema = Type.Array(
  Type.Object({
    field: Type.String(),
    direction: Type.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'] }),
  }),
)

export interface SortKey {
  field: string
  direction: 'asc' | 'desc'
}

/** The query of a project's rows: feedback or costs. */
export const rowsQuerySchema = Type.Object({
  project_id: projectIdSchema,
  fields: optional(Type.Array(Type.String())),
  query: optional(querySchema),
  sort_by: optional(sortSchema),
  limit: optional(limitSchema),
  offset: optional(limitSchema),
})

/** Names the rows of a project to purge; see purge-ids.ts. */
export const purgeSchema = Type.Object({ project_id: projectIdSchema, query: querySchema })
