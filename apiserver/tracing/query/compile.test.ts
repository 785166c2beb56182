import { describe, expect, test } from 'vitest'
import { compileCondition, compileSort } from './compile.ts'
import { unknownField, type Field, type Fields } from './field.ts'
import { SqlParams } from './params.ts'
import type { SortKey } from './schema.ts'

const known: Record<string, Field> = {
  name: { kind: 'text', sql: 't.name' },
  id: { kind: 'text', sql: 't.id', neverNull: true },
  size: { kind: 'number', sql: 't.size' },
  at: { kind: 'time', sql: 't.at' },
  'doc.a': { kind: 'json', sql: 't.doc', path: ['a'] },
  'doc.b': { kind: 'json', sql: 't.doc', path: ['list', '-1', 'b'] },
  notes: {
    kind: 'rows',
    alias: 'n',
    rows: 'n WHERE n.t = t.id',
    orderBy: 'n.id',
    value: { kind: 'json', sql: 'n.doc', path: ['x'] },
  },
}
const fields: Fields = {
  resolve: (path) => {
    const field = known[path]
    if (!field) throw unknownField(path)
    return field
  },
}

const get = (path: string) => ({ $getField: path })
const is = (value: unknown) => ({ $literal: value })
const to = (type: string, input: unknown) => ({ $convert: { input, to: type } })

function compile(expr: unknown): [string, unknown[]] {
  const params = new SqlParams()
  return [compileCondition(expr, fields, params), params.values]
}

const a = '(t.doc #>> $1::text[])'

describe('a condition', () => {
  test.each<[string, unknown, string, unknown[]]>([
    ['a column and a text', { $eq: [get('name'), is('x')] }, '(t.name = $1::text)', ['x']],
    ['a literal first', { $gt: [is('x'), get('name')] }, '(t.name < $1::text COLLATE "C")', ['x']],
    ['a column and null', { $eq: [get('name'), is(null)] }, '(t.name IS NULL)', []],
    ['more than null', { $gt: [get('name'), is(null)] }, 'NULL', []],
    ['a path and a text', { $eq: [get('doc.a'), is('x')] }, `(coalesce(${a}, '') = $2::text)`, [['a'], 'x']],
    ['a missing path', { $eq: [get('doc.a'), is(null)] }, `(${a} IS NULL)`, [['a']]],
    [
      'a path and a number',
      { $gte: [get('doc.a'), is(2.5)] },
      `coalesce((tracing.number_or_null(coalesce(${a}, '')) >= $2::float8), FALSE)`,
      [['a'], 2.5],
    ],
    [
      'a path as a number, which is null for other values',
      { $gte: [to('double', get('doc.a')), is(2)] },
      `(tracing.number_or_null(coalesce(${a}, '')) >= $2::float8)`,
      [['a'], 2],
    ],
    [
      'a path behind a name that looks like a negative index',
      { $eq: [get('doc.b'), is('x')] },
      `(coalesce((((t.doc #> $1::text[]) -> $2::text) #>> $3::text[]), '') = $4::text)`,
      [['list'], '-1', ['b'], 'x'],
    ],
    ['a number and a text of a number', { $lt: [get('size'), is('10')] }, '(t.size < $1::float8)', [10]],
    ['a number and another text: never true', { $eq: [to('int', get('doc.a')), is('x')] }, 'FALSE', []],
    ['a number too large for a double', { $lt: [get('size'), is(Infinity)] }, '(t.size < $1::float8)', [Infinity]],
    [
      'a time and seconds',
      { $gte: [get('at'), is(1_769_860_800.25)] },
      '(t.at >= $1::timestamptz)',
      ['2026-01-31T12:00:00.250000Z'],
    ],
    [
      'a time and a day',
      { $lt: [get('at'), is('2026-02-01')] },
      '(t.at < $1::timestamptz)',
      ['2026-02-01T00:00:00.000000Z'],
    ],
    ['a time that is out of range', { $lt: [get('at'), is(1e300)] }, '(t.at < $1::timestamptz)', ['infinity']],
    ['two literals', { $eq: [is('1'), is('1')] }, 'TRUE', []],
    ['a list of texts', { $in: [get('name'), [is('x'), is('y')]] }, '(t.name = ANY ($1::text[]))', [['x', 'y']]],
    ['an empty list', { $in: [get('doc.a'), []] }, 'FALSE', []],
    [
      'a list of mixed values',
      { $in: [get('name'), [is('x'), is(1), is(null), get('id')]] },
      '(((t.name IS NULL) OR (t.name = ANY ($1::text[])) OR ' +
        'coalesce((tracing.number_or_null(t.name) = ANY ($2::float8[])), FALSE)) OR (t.name = t.id))',
      [['x'], [1]],
    ],
    [
      'a part of a text',
      { $contains: { input: get('name'), substr: is('50%') } },
      '(strpos(t.name, $1::text) > 0)',
      ['50%'],
    ],
    [
      'a part of a text, in any case',
      { $contains: { input: get('name'), substr: is('A'), case_insensitive: true } },
      '(strpos(lower(t.name COLLATE "C"), lower($1::text COLLATE "C")) > 0)',
      ['A'],
    ],
    [
      'several conditions together',
      { $and: [{ $not: [{ $eq: [get('id'), is('x')] }] }, { $or: [{ $eq: [get('name'), is('y')] }, is(true)] }] },
      '((NOT (t.id = $1::text)) AND ((t.name = $2::text) OR TRUE))',
      ['x', 'y'],
    ],
    ['one condition alone', { $or: [{ $eq: [get('id'), is('x')] }] }, '(t.id = $1::text)', ['x']],
    [
      'a value of any of several rows',
      { $eq: [get('notes'), is('x')] },
      'EXISTS (SELECT 1 FROM n WHERE n.t = t.id AND ((n.doc #>> $1::text[]) = $2::text))',
      [['x'], 'x'],
    ],
    [
      'the absence of a value in several rows',
      { $eq: [get('notes'), is('')] },
      '(EXISTS (SELECT 1 FROM n WHERE n.t = t.id AND (n.doc #>> $1::text[]) IS NOT NULL AND ' +
        '((n.doc #>> $1::text[]) = $2::text)) OR ' +
        'NOT EXISTS (SELECT 1 FROM n WHERE n.t = t.id AND (n.doc #>> $1::text[]) IS NOT NULL))',
      [['x'], ''],
    ],
    ['whether a value exists', to('exists', get('doc.a')), `((${a} IS NOT NULL))`, [['a']]],
    [
      'a text as a boolean',
      get('name'),
      "(CASE t.name WHEN 'true' THEN TRUE WHEN '1' THEN TRUE WHEN 'false' THEN FALSE WHEN '0' THEN FALSE END)",
      [],
    ],
  ])('of %s', (_, expr, sql, values) => {
    expect(compile(expr)).toEqual([sql, values])
  })

  test('keeps earlier parameters', () => {
    const params = new SqlParams()
    const before = params.add('p')
    const sql = compileCondition({ $or: [{ $eq: [to('int', get('doc.a')), is('x')] }, get('doc.a')] }, fields, params)
    expect([before, sql, params.values]).toEqual([
      '$1',
      `(FALSE OR (CASE coalesce((t.doc #>> $2::text[]), '') WHEN 'true' THEN TRUE WHEN '1' THEN TRUE ` +
        `WHEN 'false' THEN FALSE WHEN '0' THEN FALSE END))`,
      ['p', ['a']],
    ])
  })
})

describe('an order', () => {
  const sort = (...keys: [string, SortKey['direction']][]): [string, unknown[]] => {
    const params = new SqlParams()
    const sortBy = keys.map(([field, direction]) => ({ field, direction }))
    return [compileSort(sortBy, fields, params), params.values]
  }

  test.each<[string, [string, SortKey['direction']][], string, unknown[]]>([
    ['nothing', [], '', []],
    [
      'columns',
      [
        ['at', 'asc'],
        ['id', 'desc'],
      ],
      't.at ASC, t.id DESC',
      [],
    ],
    ['a column that may be null, descending', [['name', 'desc']], 't.name DESC NULLS LAST', []],
    [
      'a path',
      [['doc.a', 'desc']],
      `tracing.number_or_null(${a}) DESC NULLS LAST, ${a} COLLATE "C" DESC NULLS LAST`,
      [['a']],
    ],
    [
      'several rows: the first that has a value',
      [['notes', 'asc']],
      ['tracing.number_or_null(', ') ASC NULLS LAST, ', ' COLLATE "C" ASC NULLS LAST'].join(
        '(SELECT (n.doc #>> $1::text[]) FROM n WHERE n.t = t.id AND (n.doc #>> $1::text[]) IS NOT NULL ORDER BY n.id LIMIT 1)',
      ),
      [['x']],
    ],
  ])('by %s', (_, keys, sql, values) => {
    expect(sort(...keys)).toEqual([sql, values])
  })

  test('of too many keys is rejected', () => {
    const keys = Array.from({ length: 101 }, (): [string, 'asc'] => ['id', 'asc'])
    expect(() => sort(...keys)).toThrow(expect.objectContaining({ status: 400 }))
  })
})
