import { type World, words } from './world.ts'

/** An expression of the query language. */
export type Expression = Record<string, unknown>

export const field = (path: string): Expression => ({ $getField: path })
export const literal = (value: unknown): Expression => ({ $literal: value })
export const convert = (path: string, to: string): Expression => ({ $convert: { input: field(path), to } })

const textFields = ['inputs.s', 'inputs.nested.k', 'inputs.nested.deep.list.1', 'attributes.env', 'op_name']
const order = ['$gt', '$gte', '$lt', '$lte']

/** A condition on calls, in the documented language. */
export function makeCondition(world: World, depth = 2): Expression {
  const { random } = world
  if (depth > 0 && random.chance(0.35)) return combine(world, depth - 1)
  return random.pick(leaves)(world)
}

function combine(world: World, depth: number): Expression {
  const { random } = world
  const operands = Array.from({ length: 1 + random.int(3) }, () => makeCondition(world, depth))
  return { [random.pick(['$and', '$or'])]: operands }
}

const leaves: ((world: World) => Expression)[] = [
  equalText,
  equalText,
  (world) => ({ $not: [equalText(world)] }),
  numberAgainst,
  numberAgainst,
  plainNumber,
  oneOf,
  contains,
  ({ random }) => ({ $eq: [field('inputs.maybe'), literal(random.pick(['', ...words]))] }),
  ({ random }) => ({ $not: [{ $eq: [field('inputs.maybe'), literal(random.pick(['', ...words]))] }] }),
  ({ random }) => ({ $eq: [field(random.pick(['parent_id', 'ended_at', 'exception', 'thread_id'])), literal(null)] }),
  ({ random }) => ({ $not: [{ $eq: [field(random.pick(['parent_id', 'ended_at'])), literal(null)] }] }),
  ({ random }) => ({ $eq: [field('inputs.flag'), literal(random.pick([true, false]))] }),
  ({ random }) => ({ $eq: [field('summary.weave.status'), literal(random.pick(statuses))] }),
  ({ random }) => ({ $gt: [field('summary.weave.latency_ms'), literal(random.int(9000) + 0.5)] }),
  startedAround,
  ({ random, calls }) => ({ $in: [field('id'), random.some(calls, 5).map(({ id }) => literal(id))] }),
  ({ random, calls }) => ({ $eq: [field('trace_id'), literal(random.pick(calls).traceId)] }),
]

const statuses = ['success', 'error', 'running', 'descendant_error']

function equalText({ random, project }: World): Expression {
  const name = random.pick(textFields)
  const op = random.chance(0.5) ? random.pick(words) : `weave:///${project}/op/${random.pick(words)}:${'d'.repeat(43)}`
  const values = { op_name: op, 'attributes.env': random.pick(['prod', 'test']) } as Record<string, string>
  return { $eq: [field(name), literal(values[name] ?? random.pick(words))] }
}

function numberAgainst({ random }: World): Expression {
  const operand = random.pick([
    convert('inputs.n', 'int'),
    convert('inputs.n', 'double'),
    convert('inputs.x', 'double'),
    convert('inputs.list.0', 'int'),
    convert('summary.usage.tiny-model.total_tokens', 'int'),
  ])
  return { [random.pick(['$eq', ...order])]: [operand, literal(random.int(60) - 5)] }
}

/** Compares a number in a payload with a literal without `$convert`, as many people write it. */
function plainNumber({ random }: World): Expression {
  return { [random.pick(order)]: [field(random.pick(['inputs.n', 'inputs.x'])), literal(random.int(60) - 5)] }
}

function oneOf({ random }: World): Expression {
  return { $in: [field(random.pick(textFields.slice(0, 3))), random.some(words, 4).map(literal)] }
}

function contains({ random }: World): Expression {
  const part = random.pick(words).slice(1, 3)
  const case_insensitive = random.pick([true, false, null])
  const substr = literal(case_insensitive ? part.toUpperCase() : part)
  return { $contains: { input: field(random.pick([...textFields, 'inputs'])), substr, case_insensitive } }
}

/** Seconds since 1970 and texts: clients send both. */
function startedAround({ random, calls }: World): Expression {
  const seconds = random.pick(calls).startedMs / 1000 + random.pick([-0.5, 0.25])
  return { [random.pick(order)]: [field('started_at'), literal(seconds)] }
}
