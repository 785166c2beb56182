import { Type, type Static } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'

// The maximum of a Postgres integer.
export const maxStep = 2 ** 31 - 1
export const maxSteps = 5_000

const uuid = Type.String({ format: 'uuid' })

const memberSchemas = {
  id: uuid,
  step: Type.Integer(),
  metrics: Type.Record(Type.String(), Type.Number()),
  created_at: Type.String({ format: 'date-time' }),
}

/** A checkpoint in lists. */
export const checkpointSchema = Type.Object({
  ...memberSchemas,
  size: nullable(Type.Integer({ description: 'in bytes; null until it is measured' })),
  loaded_on: Type.Array(Type.String(), { description: 'the engine pods that have it in memory' }),
})

export const fileSchema = Type.Object({ path: Type.String(), size: Type.Integer(), digest: Type.String() })

/** One checkpoint with its files. */
export const checkpointDetailsSchema = Type.Object({
  ...memberSchemas,
  aliases: Type.Array(Type.String()),
  digest: Type.String(),
  size: Type.Integer(),
  files: Type.Array(fileSchema),
  token_statistics: nullable(Type.Object({ size: Type.Integer(), digest: Type.String() })),
})

/** DELETE .../checkpoints: the steps are in the body, or in the query if a proxy drops the bodies of DELETE. */
export const stepsBodySchema = Type.Object({
  steps: Type.Optional(Type.Array(Type.Integer({ minimum: -maxStep - 1, maximum: maxStep }), { maxItems: maxSteps })),
})

export const stepsQuerySchema = Type.Object({
  steps: Type.Optional(Type.String({ description: 'Steps, separated by commas. Can be repeated.' })),
})

export const stepsDeletionSchema = Type.Object({
  deleted_count: Type.Integer(),
  not_found_steps: Type.Array(Type.Integer()),
})

export type StepsDeletionAnswer = Static<typeof stepsDeletionSchema>
