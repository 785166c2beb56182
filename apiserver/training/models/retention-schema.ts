import { Type } from 'typebox'
import { nullable } from '../../../lib/http/validation/nullable.ts'

// Ten years.
const maxSeconds = 315_360_000
const maxKept = 1_000_000

/**
 * The rules that keep a model's checkpoints. A checkpoint that no rule keeps is deleted. Unknown rules are rejected,
 * because a misspelled rule would delete checkpoints.
 */
export const retentionSchema = Type.Object(
  {
    keep_last: Type.Optional(Type.Integer({ minimum: 1, maximum: maxKept })),
    keep_best: Type.Optional(
      Type.Object(
        {
          metric: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_./:@%+-]*$', maxLength: 200 }),
          mode: Type.Enum(['max', 'min']),
          count: Type.Integer({ minimum: 1, maximum: maxKept }),
        },
        { additionalProperties: false },
      ),
    ),
    ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSeconds })),
  },
  { additionalProperties: false, minProperties: 1 },
)

/** PUT .../retention: null keeps everything. */
export const retentionBodySchema = nullable(retentionSchema)
