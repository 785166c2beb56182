import { Type, type Static } from 'typebox'
import { maxStep } from '../checkpoints/schema.ts'

/** PUT .../aliases/{alias}. */
export const aliasBodySchema = Type.Object({ step: Type.Integer({ minimum: 0, maximum: maxStep }) })

/** An alias and its step. */
export const aliasSchema = Type.Object({
  alias: Type.String(),
  step: Type.Integer(),
  updated_at: Type.String({ format: 'date-time' }),
})

export const aliasDeletionSchema = Type.Object({ alias: Type.String(), deleted: Type.Literal(true) })

export type AliasDeletion = Static<typeof aliasDeletionSchema>
