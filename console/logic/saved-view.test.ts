import { describe, expect, test } from 'vitest'
import { noFilters } from './call-query.ts'
import { writeFilters } from './call-search.ts'
import { nameView, readView, writeView } from './saved-view.ts'

const filters = { ...noFilters, ops: ['look_up'], text: 'orange', minTokens: 10 }
const shown = { filters, order: { column: 'latency', descending: true }, paths: ['inputs.a\\.b'], hidden: ['cost'] }

describe('a saved view', () => {
  test('is the address of what it was saved from', () => {
    const { sort, cols, ...others } = readView(writeView(shown, 'team/p'))
    expect([sort, cols]).toEqual(['-latency', '-cost,inputs.a\\.b'])
    expect(others).toEqual(writeFilters(filters))
  })

  test('of another client keeps what this table knows', () => {
    const columns = [{ path: ['inputs', 'question'] }, { path: ['op_name'] }, { label: 'no path' }]
    const view = { cols: { feedback: false, elsewhere: false, model: true }, columns, sort_by: null }
    expect(readView(view)).toMatchObject({ cols: '-feedback,inputs.question', sort: undefined })
  })
})

test('objects of views have names of their labels, and labels with other letters share none', () => {
  expect(nameView('Failed look-ups')).toBe('failed-look-ups')
  const names = ['Slow?', 'Slow!', '日本', '中国'].map(nameView)
  expect(new Set(names).size).toBe(4)
  expect(names.filter((name) => !/^[a-z0-9-]{1,128}$/.test(name))).toEqual([])
})
