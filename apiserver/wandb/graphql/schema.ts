import { Type } from 'typebox'

const nullable = <S extends Parameters<typeof Type.Optional>[0]>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** POST /graphql. */
export const graphqlBody = Type.Object({
  query: Type.String(),
  variables: nullable(Type.Record(Type.String(), Type.Unknown())),
  operationName: nullable(Type.String()),
})

export const graphqlAnswer = Type.Object({
  data: Type.Unknown(),
  errors: Type.Optional(Type.Array(Type.Object({ message: Type.String() }))),
})
