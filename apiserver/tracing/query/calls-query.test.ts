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

describe('the condition of a list of calls', () => {
  test.each<[string, CallsSelection, string, unknown[]]>([
    ['nothing is asked for', {}, '', []],
    ['nothing by null', { filter: null, query: null, expandColumns: null }, '', []],
    [
      'names of ops, of one and of any version',
      { filter: { op_names: ['a', 'b:*', 'c'] } },
      ' AND (c.op_name = ANY ($2::text[]) OR (c.op_name >= $3::text AND c.op_name < $4::text))',
      [['a', 'c'], 'b:', 'b;'],
    ],
    [
      'ids, which tell their partitions',
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
      'empty lists ask for nothing',
      { filter: { op_names: [], call_ids: [], parent_ids: [], input_refs: [], trace_roots_only: false } },
      '',
      [],
    ],
    ['but no threads are none', { filter: { thread_ids: [] } }, ' AND FALSE', []],
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
      'a place behind refs',
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
  test.each(['', ...otherPaths.split(' ')])('%j is no field', (path) => {
    expect(() => compile({ query: equals(path) })).toThrow(expect.objectContaining({ status: 403 }))
  })

  test.each<[string, CallsSelection]>([
    ['more than 1,000 names', { filter: { trace_ids: Array.from({ length: 1_001 }, String) } }],
    ['a text that is no time', { query: equals('started_at') }],
    ['a path of thousands of parts', { query: equals(`inputs${'.a'.repeat(5_000)}`) }],
    [
      'too many refs to look through',
      {
        query: equals(`inputs${'.a'.repeat(12)}`),
        expandColumns: Array.from({ length: 11 }, (_, index) => `inputs${'.a'.repeat(index + 1)}`),
      },
    ],
  ])('%s are refused', (_, selection) => {
    expect(() => compile(selection)).toThrow(expect.objectContaining({ status: 400 }))
  })
})

/** The same text with the values in their places: in which order they were added does not matter. */
function renumber(sql: string, values: unknown[]): string {
  return sql.replaceAll(/\$(\d+)/g, (_, digits: string) => JSON.stringify(values[Number(digits) - 2]))
}

test.each<[string, CallsSelection['sortBy'], string]>([
  ['in the order of time', undefined, 'ORDER BY c.started_at ASC, c.id ASC'],
  ['in no order', [], ''],
  ['newest first', [{ field: 'started_at', direction: 'desc' }], 'ORDER BY c.started_at DESC, c.id ASC'],
  ['by id', [{ field: 'id', direction: 'desc' }], 'ORDER BY c.id DESC'],
  ['by what may be null', [{ field: 'ended_at', direction: 'desc' }], 'ORDER BY c.ended_at DESC NULLS LAST, c.id ASC'],
])('calls are listed %s', (_, sortBy, sql) => {
  expect(compileCallsOrder({ sortBy }, project, new SqlParams())).toBe(sql)
})
