import { expect, test } from 'vitest'
import { compileIssues } from '../../../lib/http/validation/compile.ts'
import { startBodySchema } from './schema.ts'

const find = compileIssues(startBodySchema)
const call = { project_id: 'team/p', id: 'a', trace_id: 't', op_name: 'op', started_at: '2026-11-21T10:00:00Z' }
const issuesOf = (more: object) => find({ start: { ...call, attributes: {}, inputs: {}, ...more } }, 0)

test('a call may have the members of its start alone', () => {
  expect(issuesOf({})).toEqual([])
})

test.each<[string, object]>([
  ['no op', { op_name: null }],
  ['a step that is too large', { wb_run_step: 1e300 }],
  ['an id of many characters', { id: 'x'.repeat(5_000) }],
])('the issue of a call with %s has its location', (_, more) => {
  expect(issuesOf(more)).toMatchObject([{ loc: ['body', 'start', Object.keys(more)[0]] }])
})
