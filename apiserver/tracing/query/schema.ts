import { Type } from 'typebox'

/** A condition. What may stand in `$expr` is checked where it is read: see expression.ts. */
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
