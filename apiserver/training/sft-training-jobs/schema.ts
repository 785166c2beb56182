import { Type, type Static } from 'typebox'
import { modelIdSchema } from '../../accounts/names.ts'
<<<<<<< HEAD
import { nullable } from '../../../lib/http/validation/nullable.ts'

const rate = Type.Number({ minimum: 0, maximum: 1 })

/** SFT settings. The bounds are those of the TrainingJob resource; keys that nobody knows may only be null. */
const sftConfigSchema = Type.Object(
  {
    batch_size: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 100_000 }))),
    // A list has a rate for each batch. The rules of either apply to a value of its type only.
    learning_rate: Type.Optional(
      Type.Unsafe<number | number[] | null>({
        type: ['number', 'array', 'null'],
        minimum: 0,
        maximum: 1,
        minItems: 1,
        maxItems: 20_000,
        items: rate,
      }),
    ),
  },
  { additionalProperties: Type.Null() },
)

/** Their wire names. */
export const sftSettings: readonly string[] = Object.keys(sftConfigSchema.properties)
=======
import { nullable } from '../../validation/nullable.ts'
import { sftConfigSchema } from '../settings/generated.ts'
>>>>>>> settings14

/** POST /v1/preview/sft-training-jobs. */
export const sftJobCreateSchema = Type.Object({
  model_id: modelIdSchema,
  training_data_url: Type.String({ minLength: 1, maxLength: 4096 }),
  config: Type.Optional(nullable(sftConfigSchema)),
  // Whatever it is: kept and given back, never refused.
  experimental_config: Type.Optional(nullable(Type.Object({}, { additionalProperties: Type.Unknown() }))),
})

export type SftJobCreate = Static<typeof sftJobCreateSchema>
