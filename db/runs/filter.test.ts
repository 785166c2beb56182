import { describe, expect, test } from 'vitest'
import { compileFilter, FilterError, Parameters } from './filter.ts'

function compile(filter: unknown) {
  const parameters = new Parameters([])
  return { sql: compileFilter(filter, parameters), values: parameters.values }
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
    [{ tags: { $nin: ['a'] } }, '((NOT ($1::text = ANY (r.tags))))', ['a']],
  ])('%j is SQL with parameters', (filter, sql, values) => {
    expect(compile(filter)).toEqual({ sql, values })
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
    ['300 conditions', { $or: Array.from({ length: 300 }, () => ({ group: 'a' })) }],
    ['a depth of 50', nest(50)],
  ])('with %s is rejected', (_, filter) => {
    expect(() => compile(filter)).toThrow(FilterError)
  })
})

function nest(depth: number): unknown {
  return depth === 0 ? {} : { $and: [nest(depth - 1)] }
}
