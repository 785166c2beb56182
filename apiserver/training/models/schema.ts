import { Type, type Static } from 'typebox'
import { nullable } from '../../validation/nullable.ts'
import { nameSchema } from '../names.ts'

/** POST /v1/preview/models. Clients send every key, with null for what their user left out. */
export const modelCreateSchema = Type.Object({
  entity: Type.Optional(nullable(nameSchema)),
  project: Type.Optional(nullable(nameSchema)),
  name: Type.Optional(nullable(nameSchema)),
  base_model: Type.String({ minLength: 1, maxLength: 512 }),
  return_existing: Type.Optional(nullable(Type.Boolean())),
})

export type ModelCreate = Static<typeof modelCreateSchema>

const uuid = Type.String({ format: 'uuid' })

/** A model as clients see it. */
export const modelSchema = Type.Object({
  id: uuid,
  entity: Type.String(),
  project: Type.String(),
  name: Type.String(),
  base_model: Type.String(),
  run_id: Type.String(),
})

export const checkpointSchema = Type.Object({
  id: uuid,
  step: Type.Integer(),
  metrics: Type.Record(Type.String(), Type.Number()),
})
