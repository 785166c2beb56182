import { Type, type Static } from 'typebox'
import { optional } from '../schema.ts'

/** POST /graphql. */
export const graphqlSchema = Type.Object({
  query: Type.String(),
  variables: optional(Type.Record(Type.String(), Type.Unknown())),
  operationName: optional(Type.String()),
})

export type GraphqlRequest = Static<typeof graphqlSchema>

export const graphqlAnswer = Type.Object({
  data: Type.Optional(Type.Unknown()),
  errors: Type.Optional(Type.Array(Type.Object({ message: Type.String() }))),
})
