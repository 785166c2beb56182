import { expect, test } from 'vitest'
import type { ReadDeps } from '../read-memory.ts'
import { listRows } from './query-table.ts'
import type { TableQuery } from './schema.ts'

const project = { number: 7, entity: 'team', name: 'p', id: 'team/p' }
const list = (asked: Partial<TableQuery>) =>
  listRows({} as ReadDeps, project, { project_id: 'team/p', digest: 'x', ...asked })

test.each(['', ' ', '.a', 'a.', 'a..b', 'a. .b'])('a table cannot be sorted by %j', (field) => {
  expect(() => list({ sort_by: [{ field, direction: 'asc' }] })).toThrow(/[Ss]ort field/)
})

test.each([{ limit: -1 }, { offset: -1 }])('a page of a table cannot have %j', (page) => {
  expect(() => list(page)).toThrow(expect.objectContaining({ status: 400 }))
})
