import { expect, test } from 'vitest'
import type { Pool } from '../../../db/pool.ts'
import { compileIssues } from '../../../lib/http/validation/compile.ts'
import { rowsQuerySchema } from '../query/schema.ts'
import { queryFeedback } from './query.ts'

const project = { number: 7, entity: 'team', name: 'p', id: 'team/p' }
const plan = (asked: object) => queryFeedback({} as Pool, project, { project_id: 'team/p', ...asked })
const unknown = { $expr: { $eq: [{ $getField: 'nothing' }, { $literal: 1 }] } }

test.each<[string, object, number]>([
  ['an unknown field', { fields: ['nothing'] }, 403],
  ['everything', { fields: ['*'] }, 403],
  ['an internal column', { fields: ['call_id'] }, 403],
  ['a count with more', { fields: ['id', 'count(*)'] }, 400],
  ['too many fields', { fields: Array.from({ length: 600 }, (_, n) => `payload.f${n}`) }, 400],
  ['an unknown field to sort by', { sort_by: [{ field: 'nothing', direction: 'asc' }] }, 403],
  ['an unknown field in a condition', { query: unknown }, 403],
  ['an empty condition', { query: { $expr: { $or: [] } } }, 400],
])('feedback is not found with %s', (_, asked, status) => {
  expect(() => plan(asked)).toThrow(expect.objectContaining({ status }))
})

test.each<[string, object]>([
  ['a negative offset', { offset: -1 }],
  ['a fractional limit', { limit: 0.5 }],
  ['an offset that is too large', { offset: 1e300 }],
])('a query of rows has not %s', (_, asked) => {
  const find = compileIssues(rowsQuerySchema)
  expect(find({ project_id: 'team/p' }, 0)).toEqual([])
  expect(find({ project_id: 'team/p', ...asked }, 0)).toMatchObject([{ loc: ['body', Object.keys(asked)[0]] }])
})
