import { describe, expect, test } from 'vitest'
import { compileFilter } from './filter.ts'
import { FilterError, Parameters } from './filter-fields.ts'

function compile(filter: unknown) {
  const parameters = new Parameters([])
  const { columns, members } = compileFilter(filter, parameters)
  return { columns, members, sql: `${columns} ${members}`, values: parameters.values }
}

describe('a filter', () => {
  test.each([
    [{}, 'true', []],
    [{ group: 'a' }, '(coalesce(r.group_name = $1::text, false))', ['a']],
    [
      { $or: [{ notes: 'a' }, { notes: null }] },
      '(((coalesce(r.notes = $1::text, false)) OR ((r.notes) IS NULL)))',
      ['a'],
    ],
    [{ tags: { $nin: ['a'] } }, '((NOT (r.tags && $1::text[])))', [['a']]],
    [
      { name: { $in: ['a', 'b', null] } },
      '((((r.name) IS NULL OR coalesce(r.name = ANY ($1::text[]), false))))',
      [['a', 'b']],
    ],
    [
      { $and: [{ group: 'a' }, { host: 'b' }] },
      '(coalesce(r.group_name = $1::text, false) AND coalesce(r.host = $2::text, false))',
      ['a', 'b'],
    ],
  ])('%j is SQL with parameters', (filter, columns, values) => {
    expect(compile(filter)).toMatchObject({ columns, members: 'true', values })
  })

  test('names each member of a config once, and is apart from the conditions without members', () => {
    const filter = { $and: [{ group: 'a' }, { 'config.b': { $in: [1, 'x'], $gt: 0 } }, { 'config.b.value': 1 }] }
    const { columns, members, values } = compile(filter)
    expect(columns).toBe('(coalesce(r.group_name = $1::text, false))')
    expect(members).toContain('r.members[1] = ANY ($4::jsonb[])')
    expect(members).not.toContain('r.members[2]')
    expect(values).toEqual(['a', ['b', 'value'], ['b', 'value'], ['1', '"x"'], '0', '1'])
  })

  test('looks for a key of a config with and without the member `value`', () => {
    const paths = (name: string) => compile({ [name]: 1 }).values.slice(0, 2)
    expect(paths('config.lr')).toEqual([
      ['lr', 'value'],
      ['lr', 'value'],
    ])
    expect(paths('config.lr.value')).toEqual(paths('config.lr'))
    expect(paths('config.a.b')).toEqual([
      ['a.b', 'value'],
      ['a', 'value', 'b'],
    ])
  })

  test('has no value in its SQL', () => {
    const hostile = "'; DROP TABLE training.runs; --"
    const filters = [
      { group: hostile },
      { [`config.${hostile}`]: hostile },
      { 'summary_metrics.x': { $in: [hostile, { a: hostile }] } },
      { notes: { $regex: hostile } },
      { tags: hostile },
    ]
    for (const filter of filters) expect(compile(filter).sql).not.toContain('DROP')
  })

  test.each([
    ['a list', []],
    ['an unknown field', { unknown: 1 }],
    ['a config without a key', { config: 1 }],
    ['a name of JavaScript', { constructor: 1 }],
    ['an unknown operator', { $where: 'x' }],
    ['an unknown comparison', { group: { $near: 1 } }],
    ['$and without a list', { $and: {} }],
    ['a pattern that refers back', { notes: { $regex: String.raw`(a)\1` } }],
    ['a long pattern', { notes: { $regex: 'a'.repeat(300) } }],
    ['a time that is none', { createdAt: { $gt: 'soon' } }],
    ['an order of tags', { tags: { $gt: 'a' } }],
    ['lists of more than 1,000 items in all', { group: { $in: list(600) }, name: { $nin: list(600) } }],
    ['a list that is none', { group: { $in: 'a' } }],
    ['300 conditions', { $or: Array.from({ length: 300 }, () => ({ group: 'a' })) }],
    ['a depth of 50', nest(50)],
  ])('with %s is rejected', (_, filter) => {
    expect(() => compile(filter)).toThrow(FilterError)
  })
})

const list = (count: number) => Array.from({ length: count }, (_, at) => `${at}`)

function nest(depth: number): unknown {
  return depth === 0 ? {} : { $and: [nest(depth - 1)] }
}
