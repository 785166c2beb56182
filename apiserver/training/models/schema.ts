import { Type, type Static } from 'typebox'
import { compileBody } from '../../validation/compile.ts'
import { nullable } from '../../validation/nullable.ts'
import { nameSchema } from '../names.ts'

/** POST /v1/preview/models. Clients send every key, with null for what their user left out. */
const modelCreateSchema = Type.Object({
  entity: Type.Optional(nullable(nameSchema)),
  project: Type.Optional(nullable(nameSchema)),
  name: Type.Optional(nullable(nameSchema)),
  base_model: Type.String({ minLength: 1, maxLength: 512 }),
  return_existing: Type.Optional(nullable(Type.Boolean())),
})

export type ModelCreate = Static<typeof modelCreateSchema>

export const parseModelCreate = compileBody(modelCreateSchema)
