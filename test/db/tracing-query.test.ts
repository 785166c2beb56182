import { HttpError } from '../../lib/http/http-error.ts'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { compileCallsOrder, compileCallsWhere, type CallsSelection } from '../../apiserver/tracing/query/calls-query.ts'
import { SqlParams } from '../../apiserver/tracing/query/params.ts'
import type { Pool } from '../../db/pool.ts'
import { createPartitions } from '../../db/tracing/create-partitions.ts'
import { useTestDatabase } from '../support/database.ts'
import { chooseCases, ensureSeed } from '../support/random-cases.ts'
import { evaluate, NoTime, readNumber } from './trace-query/evaluator.ts'
import { expandColumns, query, sortBy } from './trace-query/queries.ts'
import { matchesFilter, filter } from './trace-query/filters.ts'
import { orderRows } from './trace-query/order.ts'
import { call, projectId, type CallRow } from './trace-query/rows.ts'
import { storeCalls } from './trace-query/store.ts'

const seed = ensureSeed()
const project = { number: 7, entity: 'team', name: 'project', id: projectId }
const rows: CallRow[] = fc.sample(call, { seed, numRuns: 150 }).map((row, index) => ({ ...row, id: `c${index}` }))

const database = useTestDatabase()

beforeAll(async () => {
  await storeCalls(database.pool, project.number, rows)
  // Calls of another project with the same ids.
  await storeCalls(database.pool, project.number + 1, rows)
})

/** The ids that a query finds, in order. Undefined when it compares an invalid text with a time. */
async function find(selection: CallsSelection): Promise<string[] | undefined> {
  const params = new SqlParams()
  try {
    const where = compileCallsWhere(selection, project, params)
    const orderBy = compileCallsOrder(selection, project, params)
    const statement = `SELECT c.id FROM tracing.calls c WHERE ${where} ${orderBy}`
    const found = await database.pool.query<{ id: string }>(statement, params.values)
    return found.rows.map(({ id }) => id)
  } catch (error) {
    if (error instanceof HttpError && error.message.endsWith('is not a valid time.')) return undefined
    throw new Error(`of ${JSON.stringify(params.values)}`, { cause: error })
  }
}

function expected(matches: (row: CallRow) => boolean, sorting: Parameters<typeof orderRows>[1]): string[] | undefined {
  try {
    return orderRows(rows.filter(matches), sorting).map(({ id }) => id)
  } catch (error) {
    if (error instanceof NoTime) return undefined
    throw error
  }
}

const inTime = { sortBy: [{ field: 'started_at', direction: 'asc' as const }], expandColumns: [] }

describe('a query finds the same calls as a direct evaluation', () => {
  test('for conditions', async () => {
    const found = { none: 0, some: 0, all: 0 }
    const cases = chooseCases(400)
    await fc.assert(
      fc.asyncProperty(query, expandColumns, async (expr, columns) => {
        const ids = await find({ query: { $expr: expr }, expandColumns: columns })
        expect(ids).toEqual(expected((row) => evaluate(expr, { row, expandColumns: columns }) === true, inTime))
        found[!ids?.length ? 'none' : ids.length === rows.length ? 'all' : 'some']++
      }),
      cases,
    )
    // Queries that match nothing test little, so enough must match.
    expect(found.some).toBeGreaterThan(cases.numRuns / 5)
  })

  test('for negated conditions', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (operation) => {
        const expr = { $not: [operation] }
        const ids = await find({ query: { $expr: expr } })
        expect(ids).toEqual(expected((row) => evaluate(expr, { row, expandColumns: [] }) === true, inTime))
      }),
      chooseCases(200),
    )
  })

  test('for sorting', async () => {
    await fc.assert(
      fc.asyncProperty(sortBy, expandColumns, async (sorting, columns) => {
        const ids = await find({ sortBy: sorting, expandColumns: columns })
        expect(ids).toEqual(expected(() => true, { sortBy: sorting, expandColumns: columns }))
      }),
      chooseCases(100),
    )
  })

  test('for filters', async () => {
    await fc.assert(
      fc.asyncProperty(filter, async (wanted) => {
        const ids = await find({ filter: wanted })
        expect(ids).toEqual(expected((row) => matchesFilter(row, wanted), inTime))
      }),
      chooseCases(200),
    )
  })
})

const digits = fc.string({ unit: fc.constantFrom('0', '0', '1', '9'), maxLength: 420 })
const written = fc
  .record({
    sign: fc.constantFrom('', '-', '+'),
    whole: digits,
    fraction: fc.option(digits, { nil: undefined }),
    exponent: fc.option(
      fc.constantFrom('e', 'E', 'e-', 'e+', 'e-0000').chain((e) => digits.map((power) => e + power.slice(0, 6))),
    ),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent ?? ''}`,
  )

test('a text is converted to the same number as in JavaScript, or to none, for any size', async () => {
  const edges = '1e308 1.7976931348623157e308 2e308 4e-324 2e-324 5e-324 1e99999999999999999999 -1e-9999999999'
  const cases = chooseCases(600)
  const others = 'Infinity NaN 0x1f 1_000 １'
  const texts = [
    ...fc.sample(written, cases),
    ...fc.sample(fc.string(), chooseCases(100)).map((text) => text.replaceAll('\0', '')),
    ...`${edges} ${others}`.split(' '),
    ...Array.from({ length: 2 }, (_, more) => '9'.repeat(1_000 + more)),
    ...Array.from({ length: 2 }, (_, more) => `0.${'0'.repeat(300 + more * 300)}1`),
    ...Array.from({ length: 2 }, (_, before) => (before ? ' 1' : '1\n')),
  ]
  const { rows: found } = await database.pool.query<{ number: number | null }>(
    'SELECT tracing.number_or_null(text) AS number FROM unnest($1::text[]) WITH ORDINALITY AS t (text, place) ORDER BY place',
    [texts],
  )
  const numbers = texts.map((text) => ({ number: readNumber(text) }))
  expect(numbers.filter(({ number }) => number !== null).length).toBeGreaterThan(cases.numRuns / 3)
  expect(found.map(({ number }) => ({ number: number === 0 ? 0 : number }))).toEqual(
    numbers.map(({ number }) => ({ number: number === 0 ? 0 : number })),
  )
})

describe('hostile queries take little memory of Postgres', () => {
  const [document, feedback] = ['inputs.a', 'feedback.[*].runnable_ref'].map(($getField) => ({ $getField }))
  const same = { $eq: [feedback, { $literal: 'x' }] }
  const inFeedback = Array.from({ length: 12 }).reduce<object>((inner) => ({ $eq: [inner, feedback] }), same)
  const inLists = Array.from({ length: 30 }).reduce<object>(
    (inner) => ({ $in: [inner, [true, 'x', 1].map(($literal) => ({ $literal }))] }),
    same,
  )
  const anyOf = (length: number, operand: object) => ({ $or: Array.from({ length }, () => operand) })
  const texts = Array.from({ length: 9_900 }, (_, index) => ({ $literal: `${'x'.repeat(80)}${index}` }))

  const empty = useTestDatabase()
  beforeAll(async () => {
    // Calls of a year have a partition for each week.
    await createPartitions(empty.pool, 40)
  })

  test.each<[string, CallsSelection]>([
    ['nested comparisons with feedback', { query: { $expr: inFeedback } }],
    ['nested lists', { query: { $expr: inLists } }],
    ['many comparisons with feedback', { query: { $expr: anyOf(20, same) } }],
    ['many comparisons', { query: { $expr: anyOf(3_300, { $eq: [document, { $literal: 'x' }] }) } }],
    ['a large list', { query: { $expr: { $in: [document, texts] } } }],
    ['many names of ops', { filter: { op_names: Array.from({ length: 1_000 }, (_, index) => `op${index}:*`) } }],
    [
      'many fields to sort by',
      { sortBy: Array.from({ length: 100 }, () => ({ field: 'inputs.a', direction: 'asc' })) },
    ],
  ])('%s', async (_, selection) => {
    expect(await measureBackend(empty.pool, selection)).toBeLessThan(100)
  })
})

/** The private memory of the Postgres backend during a statement, in MB. */
async function measureBackend(pool: Pool, selection: CallsSelection): Promise<number> {
  const params = new SqlParams()
  const where = compileCallsWhere(selection, project, params)
  const statement = `SELECT c.id FROM tracing.calls c WHERE ${where} ${compileCallsOrder(selection, project, params)}`
  const client = await pool.connect()
  try {
    const { rows: own } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await client.query('BEGIN')
    await client.query(`DECLARE found NO SCROLL CURSOR FOR ${statement}`, params.values)
    await client.query('FETCH 10 FROM found')
    const status = await readFile(`/proc/${own[0]!.pid}/status`, 'utf8')
    return Number(/RssAnon:\s+(\d+)/.exec(status)![1]) / 1024
  } finally {
    client.release(true)
  }
}

describe('large queries get an answer', () => {
  const get = { $getField: 'inputs.a' }
  const equals = { $eq: [get, { $literal: 'nowhere' }] }
  const nest = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : { $not: [nest(depth - 1, inner)] })
  test.each<[string, unknown]>([
    ['many operands', { $or: Array.from({ length: 3_300 }, () => equals) }],
    ['a long list', { $in: [get, Array.from({ length: 9_900 }, (_, index) => ({ $literal: `v${index}` }))] }],
    [
      'a long list of numbers',
      { $in: [get, Array.from({ length: 9_900 }, (_, index) => ({ $literal: (index + 1) * 1e300 }))] },
    ],
    [
      'a long list of times',
      { $in: [{ $getField: 'started_at' }, Array.from({ length: 9_900 }, () => ({ $literal: 1e18 }))] },
    ],
    ['a long text', { $contains: { input: get, substr: { $literal: 'é'.repeat(500_000) } } }],
    ['a long path', { $eq: [{ $getField: `inputs${'.a'.repeat(500)}` }, { $literal: 'x' }] }],
    ['an index beyond any array', { $eq: [{ $getField: 'inputs.list.99999999999999999999' }, { $literal: 'x' }] }],
    ['deep nesting', nest(60, equals)],
    ['nested feedback', { $lt: [{ $getField: 'feedback.[*].payload' }, { $getField: 'feedback.[*].runnable_ref' }] }],
  ])('%s', async (_, expr) => {
    expect(await find({ query: { $expr: expr } })).toEqual([])
  })

  test('with many fields to sort by', async () => {
    const keys = Array.from({ length: 100 }, () => ({ field: 'inputs.a', direction: 'asc' as const }))
    expect(await find({ sortBy: keys })).toHaveLength(rows.length)
  })
})
