import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileCallsOrder, compileCallsWhere, type CallsSelection } from '../../apiserver/tracing/query/calls-query.ts'
import { SqlParams } from '../../apiserver/tracing/query/params.ts'
import { TraceRefusal } from '../../apiserver/tracing/refusals.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { evaluate, NoTime } from '../support/trace-query/evaluator.ts'
import { expandColumns, query, sortBy } from '../support/trace-query/queries.ts'
import { matchesFilter, filter } from '../support/trace-query/filters.ts'
import { orderRows } from '../support/trace-query/order.ts'
import { call, projectId, type CallRow } from '../support/trace-query/rows.ts'
import { storeCalls } from '../support/trace-query/store.ts'

const seed = 20_261_121
const numRuns = 2_000
// Far more than it takes; a machine may be busy.
const timeout = 240_000
const project = { number: 7, entity: 'team', name: 'project', id: projectId }
const rows: CallRow[] = fc.sample(call, { seed, numRuns: 150 }).map((row, index) => ({ ...row, id: `c${index}` }))

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await storeCalls(database.pool, project.number, rows)
  // Of another project, with the same ids.
  await storeCalls(database.pool, project.number + 1, rows)
})
afterAll(() => database?.drop())

/** The ids that are found, in order; undefined when a text that is no time was compared with one. */
async function find(selection: CallsSelection): Promise<string[] | undefined> {
  const params = new SqlParams()
  try {
    const where = compileCallsWhere(selection, project, params)
    const orderBy = compileCallsOrder(selection, project, params)
    const statement = `SELECT c.id FROM tracing.calls c WHERE ${where} ${orderBy}`
    const found = await database.pool.query<{ id: string }>(statement, params.values)
    return found.rows.map(({ id }) => id)
  } catch (error) {
    if (error instanceof TraceRefusal && error.message.endsWith('is no time.')) return undefined
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

describe('what is found is what a direct evaluation finds', () => {
  test('for conditions', { timeout }, async () => {
    const found = { none: 0, some: 0, all: 0 }
    await fc.assert(
      fc.asyncProperty(query, expandColumns, async (expr, columns) => {
        const ids = await find({ query: { $expr: expr }, expandColumns: columns })
        expect(ids).toEqual(expected((row) => evaluate(expr, { row, expandColumns: columns }) === true, inTime))
        found[!ids?.length ? 'none' : ids.length === rows.length ? 'all' : 'some']++
      }),
      { seed, numRuns },
    )
    // Most of what nobody matches tells little.
    expect(found.some).toBeGreaterThan(numRuns / 5)
  })

  test('for the opposite of conditions', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(query, async (operation) => {
        const expr = { $not: [operation] }
        const ids = await find({ query: { $expr: expr } })
        expect(ids).toEqual(expected((row) => evaluate(expr, { row, expandColumns: [] }) === true, inTime))
      }),
      { seed: seed + 1, numRuns: 1_000 },
    )
  })

  test('for sorting', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(sortBy, expandColumns, async (sorting, columns) => {
        const ids = await find({ sortBy: sorting, expandColumns: columns })
        expect(ids).toEqual(expected(() => true, { sortBy: sorting, expandColumns: columns }))
      }),
      { seed, numRuns: 500 },
    )
  })

  test('for filters', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(filter, async (wanted) => {
        const ids = await find({ filter: wanted })
        expect(ids).toEqual(expected((row) => matchesFilter(row, wanted), inTime))
      }),
      { seed, numRuns: 1_000 },
    )
  })
})
