import { expect, test } from 'vitest'
import type { Pool } from '../../../db/pool.ts'
import { compileIssues } from '../../../lib/http/validation/compile.ts'
import { queryCosts } from './query.ts'
import { costCreateSchema } from './schema.ts'

const find = compileIssues(costCreateSchema)
const cost = { prompt_token_cost: 1, completion_token_cost: 2 }
const issuesOf = (costs: object) => find({ project_id: 'team/p', costs }, 0)

test.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', null])('a cost may begin at %s', (date) => {
  expect(issuesOf({ m: { ...cost, effective_date: date } })).toEqual([])
})

test.each<[string, object]>([
  ['without a price', { m: { prompt_token_cost: 1 } }],
  ['with a text for a price', { m: { ...cost, prompt_token_cost: '1' } }],
  ['with a number that is too large', { m: { ...cost, prompt_token_cost: Infinity } }],
  ['with an invalid date', { m: { ...cost, effective_date: 'soon' } }],
  ['with a year before the first', { m: { ...cost, effective_date: '0000-01-01T00:00:00Z' } }],
  ['with an invalid year', { m: { ...cost, effective_date: '10000-01-01T00:00:00Z' } }],
  ['with a model name that is too long', { ['x'.repeat(257)]: cost }],
])('a cost is rejected %s', (_, costs) => {
  expect(issuesOf(costs)).not.toEqual([])
})

test.each<[string, object]>([
  ['an unknown field', { fields: ['nothing'] }],
  ['an unknown field in a condition', { query: { $expr: { $eq: [{ $getField: 'nothing' }, { $literal: 1 }] } } }],
  ['an unknown field to sort by', { sort_by: [{ field: 'nothing', direction: 'asc' }] }],
])('costs are not found with %s', (_, asked) => {
  const project = { number: 7, entity: 'team', name: 'p', id: 'team/p' }
  expect(() => queryCosts({} as Pool, project, { project_id: 'team/p', ...asked })).toThrow(
    expect.objectContaining({ status: 403 }),
  )
})
