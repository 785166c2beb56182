import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { pageQuery, totalQuery } from '../../../lib/http/page.ts'
import { nameSchema } from '../../accounts/names.ts'
import { retentionSchema } from './retention-schema.ts'

/** POST /v1/preview/models. Clients send every key, with null for values that their user left out. */
export const modelCreateSchema = Type.Object({
  entity: Type.Optional(nullable(nameSchema)),
  project: Type.Optional(nullable(nameSchema)),
  name: Type.Optional(nullable(nameSchema)),
  base_model: Type.String({ minLength: 1, maxLength: 512 }),
  return_existing: Type.Optional(nullable(Type.Boolean())),
  retention: Type.Optional(nullable(retentionSchema)),
})

export type ModelCreate = Static<typeof modelCreateSchema>

/** GET /v1/preview/models. */
export const modelListQuery = Type.Object({
  ...pageQuery.properties,
  ...totalQuery,
  order: Type.Enum(['asc', 'desc'], { default: 'asc' }),
  project: Type.Optional(nameSchema),
  name: Type.Optional(nameSchema),
})

export type ModelListQuery = Static<typeof modelListQuery>

const uuid = Type.String({ format: 'uuid' })

/** A model as clients see it. */
export const modelSchema = Type.Object({
  id: uuid,
  entity: Type.String(),
  project: Type.String(),
  name: Type.String(),
  base_model: Type.String(),
  run_id: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  latest_step: Type.Integer(),
  loaded_engines: Type.Integer(),
  aliases: Type.Record(Type.String(), Type.Integer()),
  retention: nullable(retentionSchema),
  forked_from: nullable(
    Type.Object({ model_id: uuid, step: Type.Integer(), checkpoint_id: nullable(Type.String({ format: 'uuid' })) }),
  ),
})

/** DELETE /v1/preview/models/{model_id}. */
export const modelDeletionSchema = Type.Object({
  model_id: uuid,
  deleted_checkpoints: Type.Integer(),
  deleted_run: Type.Boolean(),
})

export type ModelDeletion = Static<typeof modelDeletionSchema>

/** POST /v1/preview/models/{model_id}/fork. Default: the newest step, in the same project. */
export const forkBodySchema = Type.Object({
  project: Type.Optional(nullable(nameSchema)),
  name: Type.Optional(nullable(nameSchema)),
  step: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }))),
})

export type ForkBody = Static<typeof forkBodySchema>
