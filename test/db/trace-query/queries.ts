import fc from 'fast-check'
import { texts } from './rows.ts'

/** A query as clients write it. */
export type Written = { [operator: string]: unknown }

const columns = [
  'id trace_id parent_id thread_id op_name display_name exception project_id wb_run_step started_at ended_at deleted_at',
  'summary.weave.status summary.weave.latency_ms summary.weave.trace_name',
].flatMap((line) => line.split(' '))
const members = String.raw`a b a.a a.b list.0 list.1 list.-1 a.0 c\.d b.c\.d 0 nothing`.split(' ')
const paths = [
  ...['inputs', 'output', 'summary', 'attributes'].flatMap((root) => [
    root,
    ...members.map((path) => `${root}.${path}`),
  ]),
  ...String.raw`inputs.model inputs.model.a inputs.model.b inputs.model.b.a inputs.model.b.b.a`.split(' '),
  ...String.raw`inputs.model.list.1 inputs.model.c\.d`.split(' '),
]
const feedbackPaths = ['*', 'wandb.reaction.1', 'wandb.runnable.a.b', 'note]x', 'none'].flatMap((type) =>
  ['payload.a', 'payload.b.a', 'payload.c\\.d', 'payload', 'runnable_ref', 'trigger_ref'].map(
    (path) => `feedback.[${type}].${path}`,
  ),
)

export const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...columns) },
  { weight: 4, arbitrary: fc.constantFrom(...paths) },
  { weight: 2, arbitrary: fc.constantFrom(...feedbackPaths) },
)

const literal = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('c1', 't1', 'error', 'running', 'success', 'b', 'team/project', '2026-01-31T12:00:01Z'),
  },
  { weight: 1, arbitrary: fc.constantFrom('2026-01-31', '2026-01-31T12:00:01.000001', '2026-01-31T13:00:02.5+01:00') },
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 2, 3, 9, 10, 0.1, 2.5, -1, 1_000, 1e308, Infinity, -Infinity, 500) },
  { weight: 1, arbitrary: fc.constantFrom(1_769_860_801, 1_769_860_801.123456, 9_007_199_254_740_992) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
)

const leaf: fc.Arbitrary<Written> = fc.oneof(
  { weight: 3, arbitrary: field.map(($getField) => ({ $getField })) },
  { weight: 2, arbitrary: literal.map(($literal) => ({ $literal })) },
)

const seconds = [0, 1, 2, 3].flatMap((second) =>
  [0, 0.000_001, 0.123_456, 0.5].map((part) => 1_769_860_800 + second + part),
)
const time = fc.oneof(
  fc.constantFrom(...seconds),
  fc.constantFrom('2026-01-31T12:00:01Z', '2026-01-31T12:00:02.5Z', '2026-01-31T12:00:01.123456'),
)

const comparator = fc.constantFrom('$eq', '$eq', '$gt', '$gte', '$lt', '$lte')

export const query = fc.letrec<{ operand: Written; operation: Written }>((tie) => {
  const operand = tie('operand')
  const operands = fc.array(operand, { minLength: 1, maxLength: 3 })
  return {
    operand: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { weight: 5, arbitrary: leaf },
      {
        weight: 2,
        arbitrary: fc
          .tuple(operand, fc.constantFrom('double', 'int', 'string', 'bool', 'exists'))
          .map(([input, to]) => ({ $convert: { input, to } })),
      },
      { weight: 1, arbitrary: tie('operation') },
    ),
    operation: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      {
        weight: 6,
        arbitrary: fc.tuple(comparator, operand, operand).map(([name, a, b]) => ({ [name]: [a, b] })),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(comparator, fc.constantFrom('started_at', 'ended_at'), time)
          .map(([name, $getField, $literal]) => ({ [name]: [{ $getField }, { $literal }] })),
      },
      { weight: 2, arbitrary: fc.tuple(operand, fc.array(leaf, { maxLength: 4 })).map(($in) => ({ $in })) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(operand, operand, fc.constantFrom(true, false, null, undefined))
          .map(([input, substr, caseInsensitive]) => ({
            $contains: { input, substr, ...(caseInsensitive !== undefined && { case_insensitive: caseInsensitive }) },
          })),
      },
      { weight: 1, arbitrary: operands.map(($and) => ({ $and })) },
      { weight: 1, arbitrary: operands.map(($or) => ({ $or })) },
      { weight: 1, arbitrary: operand.map((negated) => ({ $not: [negated] })) },
    ),
  }
}).operation

export const sortBy = fc.array(fc.record({ field, direction: fc.constantFrom('asc' as const, 'desc' as const) }), {
  minLength: 1,
  maxLength: 3,
})

export const expandColumns = fc.subarray(['inputs.model', 'inputs.model.b', 'inputs.a', 'output', 'inputs'])
