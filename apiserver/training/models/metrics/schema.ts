import { Type, type Static } from 'typebox'

/** In milliseconds. A date of JavaScript cannot be later. */
const maxTime = 8_640_000_000_000_000

const numbers = Type.Array(Type.Number())

const envelopeSchema = Type.Object(
  {
    x: Type.Enum(['index', 'step', 'time']),
    exact: Type.Boolean({ description: 'whether each bucket is one value' }),
    width: Type.Integer({ description: 'the gradient steps of a bucket; for the source `training` its steps' }),
    first: { ...numbers, description: 'x of the first value of each bucket' },
    last_x: { ...numbers, description: 'x of its last value; for the index, of a value near it' },
    min: numbers,
    max: numbers,
    mean: numbers,
    last: numbers,
    count: numbers,
  },
  {
    description:
      'columns of equal length, one value for each bucket, in order. The least and the greatest value of the range are ' +
      'always in `min` and `max`',
  },
)

export const maxPoints = 4_000

const bound = Type.Number({ minimum: 0, maximum: maxTime })

export const modelMetricsQuery = Type.Object({
  keys: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description: 'the metrics whose points are returned, separated by commas. Without it, metrics have no points',
    }),
  ),
  samples: Type.Integer({ minimum: 2, maximum: 10_000, default: 500 }),
  points: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: maxPoints,
      description:
        'asks for envelopes of at most as many buckets, also of gradient steps. Without it, metrics have points',
    }),
  ),
  x: Type.Enum(['step', 'index', 'time'], {
    default: 'step',
    description:
      "of envelopes: the model's step, the number of the gradient step over all jobs of the model, from 0, or the time in " +
      'milliseconds since 1970',
  }),
  from: Type.Optional({ ...bound, description: 'the least x of envelopes' }),
  to: Type.Optional({ ...bound, description: 'the greatest x of envelopes' }),
})

const sourceSchema = Type.Enum(['training', 'gradient', 'logged'], {
  description:
    '`training`: of the jobs, one value each. `gradient`: of their gradient steps. `logged`: by a client, in the run with ' +
    'the name of the model',
})

const seriesSchema = Type.Object({
  key: Type.String(),
  source: sourceSchema,
  count: Type.Integer({ description: 'how many values there are' }),
  points: Type.Array(Type.Object({ step: Type.Integer(), value: Type.Number() }), {
    description: 'at most `samples` values at equal distances, in the order of their steps',
  }),
  envelope: Type.Optional(envelopeSchema),
})

export const modelMetricsSchema = Type.Object({ metrics: Type.Array(seriesSchema) })

export const metricKeysSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      key: Type.String(),
      source: sourceSchema,
      count: Type.Integer(),
      last: Type.Union([Type.Number(), Type.Null()], { description: 'the last value. Null for logged ones' }),
    }),
  ),
})

export type Series = Static<typeof seriesSchema>
export type ModelMetricsQuery = Static<typeof modelMetricsQuery>
