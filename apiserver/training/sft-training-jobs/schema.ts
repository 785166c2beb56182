import { Type, type Static } from 'typebox'
import { modelIdSchema } from '../../accounts/names.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { sftConfigSchema } from '../settings/generated.ts'

/** POST /v1/preview/sft-training-jobs. */
export const sftJobCreateSchema = Type.Object({
  model_id: modelIdSchema,
  training_data_url: Type.String({ minLength: 1, maxLength: 4096 }),
  config: Type.Optional(nullable(sftConfigSchema)),
  // Whatever it is: kept and given back, never refused.
  experimental_config: Type.Optional(nullable(Type.Object({}, { additionalProperties: Type.Unknown() }))),
})

export type SftJobCreate = Static<typeof sftJobCreateSchema>
