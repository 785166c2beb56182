import { Type } from 'typebox'

export const refsReadSchema = Type.Object({ refs: Type.Array(Type.String()) })
export const refValuesSchema = Type.Object({ vals: Type.Array(Type.Unknown()) })
