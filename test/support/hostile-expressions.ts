import type { Random } from '../clients/weave-differential/random.ts'
import { field, literal, paths, scalars, structures, times } from './hostile-values.ts'

/** Makes a random operand or operation of the query language, valid or not. */
export function makeExpression(random: Random, depth = 3): unknown {
  const operand = () => makeExpression(random, depth - 1)
  if (depth === 0 || random.chance(0.3)) {
    return random.pick([
      () => literal(random.pick(scalars)),
      () => literal(random.pick(structures)),
      () => literal(random.pick(times)),
      () => field(random.pick(paths)),
      () => field(random.pick(paths)),
      () => random.pick(scalars),
      () => ({
        $convert: {
          input: field(random.pick(paths)),
          to: random.pick(['int', 'double', 'string', 'bool', 'exists', 'x', null]),
        },
      }),
    ])()
  }
  const list = () => Array.from({ length: random.int(4) }, operand)
  const pair = () => (random.chance(0.9) ? [operand(), operand()] : list())
  return random.pick([
    () => ({ $and: list() }),
    () => ({ $or: list() }),
    () => ({ $not: [operand()] }),
    () => ({ [random.pick(['$eq', '$gt', '$gte', '$lt', '$lte'])]: pair() }),
    () => ({ [random.pick(['$eq', '$gt', '$gte', '$lt', '$lte'])]: pair() }),
    () => ({ $in: [operand(), random.chance(0.8) ? list() : operand()] }),
    () => ({
      $contains: { input: operand(), substr: operand(), case_insensitive: random.pick([true, false, null, 1]) },
    }),
    () => ({ $convert: { input: operand(), to: random.pick(['int', 'double', 'string', 'bool', 'exists']) } }),
    () => ({ $eq: pair(), $and: list() }),
    () => ({ [random.pick(['$regex', '$ne', 'eq', ''])]: pair() }),
    () => random.pick(structures),
  ])()
}
