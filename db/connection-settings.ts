import { Type } from 'typebox'

/** How many connections a pool may open. Fewer than `minimum` would let requests wait for each other. */
export function connectionsSetting(defaultCount: number, minimum = 2) {
  return Type.Integer({ minimum, maximum: 1_000, default: defaultCount })
}
