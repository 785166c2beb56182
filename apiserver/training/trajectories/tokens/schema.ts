import { Type, type Static, type TSchema } from 'typebox'
import { nullable } from '../../../../lib/http/validation/nullable.ts'
import { missingReasons } from './explain-missing.ts'
import { flags, numberColumns } from './read-tokens.ts'

/** Query of GET .../tokens. */
export const tokensQuery = Type.Object({
  from: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: 'the first row, counted from 0' }),
  limit: Type.Integer({ minimum: 1, maximum: 50_000, default: 10_000 }),
})

export type TokensQuery = Static<typeof tokensQuery>

const columnOf = (item: TSchema) => Type.Array(item)
const byName = <Name extends string, Column extends TSchema>(names: readonly Name[], column: Column) =>
  Object.fromEntries(names.map((name) => [name, column])) as Record<Name, Column>

export const tokensSchema = Type.Object({
  trajectory_id: Type.String({ format: 'uuid' }),
  job_id: nullable(Type.String({ format: 'uuid' })),
  total: Type.Integer({ minimum: 0, description: 'How many rows the trajectory has.' }),
  from: Type.Integer({ minimum: 0 }),
  has_more: Type.Boolean(),
  columns: Type.Object(
    {
      ...byName(numberColumns, columnOf(nullable(Type.Number()))),
      ...byName(flags, columnOf(Type.Boolean())),
    },
    { description: 'Columns of equal length, one value for each trained token, as in the file of token statistics.' },
  ),
  missing: nullable(
    Type.Object(
      { reason: Type.Enum([...missingReasons]), message: Type.String() },
      { description: 'Why there are no rows.' },
    ),
  ),
})
