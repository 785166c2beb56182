import { describe, expect, test } from 'vitest'
import { compileCallsOrder, compileCallsWhere, type CallsSelection } from './calls-query.ts'
import { SqlParams } from './params.ts'

const project = { number: 7, entity: 'team', name: 'p', id: 'team/p' }
const visible = 'c.project = $1::int AND c.started_at IS NOT NULL AND c.deleted_at IS NULL'

function compile(selection: CallsSelection): [string, unknown[]] {
  const params = new SqlParams()
  return [compileCallsWhere(selection, project, params), params.values.slice(1)]
}

const equals = (field: string) => ({ $expr: { $eq: [{ $getField: field }, { $literal: 'x' }] } })

const anyOf = (length: number, { $expr }: ReturnType<typeof equals>) => ({
  $expr: { $or: Array.from({ length }, () => $expr) },
})
const fieldsOf = (length: number) => Array.from({ length }, (_, index) => ({ $getField: `inputs.${index}` }))

describe('the condition of a list of calls', () => {
  test.each<[string, CallsSelection, string, unknown[]]>([
    ['without filters', {}, '', []],
    ['with null filters', { filter: null, query: null, expandColumns: null }, '', []],
    [
      'names of ops, with one and with any version',
      { filter: { op_names: ['a', 'b:*', 'c'] } },
      ' AND (c.op_name = ANY ($2::text[]) OR (c.op_name >= $3::text AND c.op_name < $4::text))',
      [['a', 'c'], 'b:', 'b;'],
    ],
    [
      'ids, which determine their partitions',
      { filter: { call_ids: ['01980000-0000-7000-8000-000000000000', 'x'] } },
      ' AND c.week = ANY ($2::smallint[]) AND c.id = ANY ($3::text[])',
      [
        [2_897, -1],
        ['01980000-0000-7000-8000-000000000000', 'x'],
      ],
    ],
    [
      'refs and roots',
      { filter: { input_refs: ['r'], output_refs: ['s'], trace_roots_only: true } },
      ' AND c.input_refs && $2::text[] AND c.output_refs && $3::text[] AND c.parent_id IS NULL',
      [['r'], ['s']],
    ],
    [
      'empty lists have no effect',
      { filter: { op_names: [], call_ids: [], parent_ids: [], input_refs: [], trace_roots_only: false } },
      '',
      [],
    ],
    ['but an empty list of threads matches no call', { filter: { thread_ids: [] } }, ' AND FALSE', []],
    ['the project itself', { query: equals('project_id') }, ' AND ($2::text = $3::text)', ['team/p', 'x']],
    [
      'feedback of a type',
      { query: equals('feedback.[wandb.runnable.a].payload.output.x') },
      ' AND EXISTS (SELECT 1 FROM tracing.feedback f1 WHERE f1.project = c.project AND f1.call_id = c.id AND ' +
        'f1.feedback_type = $2::text AND ((f1.payload #>> $3::text[]) = $4::text))',
      ['wandb.runnable.a', ['output', 'x'], 'x'],
    ],
    [
      'feedback of any type',
      { query: equals('feedback.[*].runnable_ref') },
      ' AND EXISTS (SELECT 1 FROM tracing.feedback f1 WHERE f1.project = c.project AND f1.call_id = c.id AND ' +
        '(f1.runnable_ref = $2::text))',
      ['x'],
    ],
    [
      'a path behind refs',
      { query: equals('inputs.model.config.a'), expandColumns: ['inputs.model.config', 'inputs.model', 'output'] },
      ' AND (coalesce((tracing.look_through(c.project, $4::text, ' +
        "tracing.look_through(c.project, $3::text, c.inputs #> $2::text[]) #> $5::text[]) #>> $6::text[]), '') = $7::text)",
      [['model'], 'team/p', 'team/p', ['config'], ['a'], 'x'],
    ],
    [
      'the ref itself',
      { query: equals('inputs.model'), expandColumns: ['inputs.model'] },
      " AND (coalesce((c.inputs #>> $2::text[]), '') = $3::text)",
      [['model'], 'x'],
    ],
  ])('%s', (_, selection, sql, values) => {
    const [found, params] = compile(selection)
    expect(found.startsWith(visible)).toBe(true)
    expect(renumber(found.slice(visible.length), params)).toEqual(renumber(sql, values))
  })

  const otherPaths =
    'x storage_size_bytes summary.weave.costs inputsx.a otel_dump constructor feedback feedback.x feedback.[x] ' +
    'feedback.[x].id feedback.[].payload feedback.[x].runnable_ref.a'
  test.each(['', ...otherPaths.split(' ')])('%j is not a field', (path) => {
    expect(() => compile({ query: equals(path) })).toThrow(expect.objectContaining({ status: 403 }))
  })

  test.each<[string, CallsSelection]>([
    ['more than 1,000 names', { filter: { trace_ids: Array.from({ length: 1_001 }, String) } }],
    ['a text that is not a time', { query: equals('started_at') }],
    ['a path of thousands of parts', { query: equals(`inputs${'.a'.repeat(5_000)}`) }],
    ['a path of many characters', { query: equals(`inputs.${'a'.repeat(70_000)}`) }],
    ['more than 1 MiB of texts', { filter: { trace_ids: Array.from({ length: 1_000 }, () => 'x'.repeat(1_100)) } }],
    ['more than 256 KiB of SQL', { query: anyOf(4_500, equals('inputs.a')) }],
    ['the same in a list', { query: { $expr: { $in: [{ $getField: 'inputs.a' }, fieldsOf(6_000)] } } }],
    ['more than 20 fields of feedback', { query: anyOf(21, equals('feedback.[*].payload.a')) }],
    [
      'too many refs to follow',
      {
        query: equals(`inputs${'.a'.repeat(12)}`),
        expandColumns: Array.from({ length: 11 }, (_, index) => `inputs${'.a'.repeat(index + 1)}`),
      },
    ],
  ])('%s are rejected', (_, selection) => {
    expect(() => compile(selection)).toThrow(expect.objectContaining({ status: 400 }))
  })
})

test('orders of more than 32 KiB of SQL are rejected', () => {
  const sortBy = Array.from({ length: 100 }, () => ({
    field: `inputs${'.-1.a'.repeat(20)}`,
    direction: 'asc' as const,
  }))
  const order = () => compileCallsOrder({ sortBy }, project, new SqlParams())
  expect(order).toThrow(expect.objectContaining({ status: 400 }))
})

describe('a condition is written once in any nesting', () => {
  const feedback = { $getField: 'feedback.[*].runnable_ref' }
  const nest = (depth: number, around: (inner: unknown) => unknown): unknown =>
    depth === 0 ? equals('id').$expr : around(nest(depth - 1, around))

  test.each<[string, (inner: unknown) => unknown]>([
    ['in comparisons with feedback', (inner) => ({ $eq: [inner, feedback] })],
    ['as the value that is searched in feedback', (inner) => ({ $contains: { input: feedback, substr: inner } })],
    ['in front of lists', (inner) => ({ $in: [inner, [true, 'x', 1, null].map(($literal) => ({ $literal }))] })],
    ['in front of lists of fields', (inner) => ({ $in: [inner, fieldsOf(3)] })],
  ])('%s', (_, around) => {
    const lengths = [9, 18].map((depth) => compile({ query: { $expr: nest(depth, around) } })[0].length)
    expect(lengths[1]).toBeLessThan(2.2 * lengths[0]!)
  })
})

/** Replaces the placeholders by their values, because the order of the parameters does not matter. */
function renumber(sql: string, values: unknown[]): string {
  return sql.replaceAll(/\$(\d+)/g, (_, digits: string) => JSON.stringify(values[Number(digits) - 2]))
}

test.each<[string, CallsSelection['sortBy'], string]>([
  ['in order of time', undefined, 'ORDER BY c.started_at ASC, c.id ASC'],
  ['with an empty order', [], ''],
  ['newest first', [{ field: 'started_at', direction: 'desc' }], 'ORDER BY c.started_at DESC, c.id ASC'],
  ['by id', [{ field: 'id', direction: 'desc' }], 'ORDER BY c.id DESC'],
  [
    'by a field that may be null',
    [{ field: 'ended_at', direction: 'desc' }],
    'ORDER BY c.ended_at DESC NULLS LAST, c.id ASC',
  ],
])('calls are listed %s', (_, sortBy, sql) => {
  expect(compileCallsOrder({ sortBy }, project, new SqlParams())).toBe(sql)
})
