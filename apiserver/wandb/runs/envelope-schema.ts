import { Type } from 'typebox'

/** In milliseconds. A date of JavaScript cannot be later. */
export const maxTime = 8_640_000_000_000_000

const numbers = Type.Array(Type.Number())

export const envelopeSchema = Type.Object(
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
