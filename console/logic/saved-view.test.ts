import { describe, expect, test } from 'vitest'
import { noFilters } from './call-query.ts'
import { writeFilters } from './call-search.ts'
import { nameView, readDefinition, readView, writeView } from './saved-view.ts'

const filters = { ...noFilters, ops: ['look_up'], text: 'orange', minTokens: 10 }
const shown = { filters, order: { column: 'latency', descending: true }, paths: ['inputs.a\\.b'], hidden: ['cost'] }

describe('a saved view', () => {
  test('is the address of what it was saved from', () => {
    const { sort, cols, ...others } = readView(writeView(shown, 'team/p'))
    expect([sort, cols]).toEqual(['-latency', '-cost,inputs.a\\.b'])
    expect(others).toEqual(writeFilters(filters))
  })

  test('is read without the classes that the server stores with it', () => {
    const own = writeView(shown, 'team/p')
    const stored = {
      ...own,
      query: { _type: 'Query', ...(own.query as object), _bases: ['BaseModel'] },
      _class_name: 'Definition',
    }
    expect(readDefinition(stored)).toEqual(own)
  })

  test('of another client keeps what this table knows', () => {
    const columns = [{ path: ['inputs', 'question'] }, { path: ['op_name'] }, { label: 'no path' }]
    const view = { cols: { feedback: false, elsewhere: false, model: true }, columns, sort_by: null }
    expect(readView(view)).toMatchObject({ cols: '-feedback,inputs.question', sort: undefined })
  })
})

test('objects of views have names of their labels, and labels with other letters share none', () => {
  expect(nameView('Failed look-ups')).toBe('failed-look-ups')
  const names = ['Slow?', 'Slow!', '日本', '中国'].map((label) => nameView(label))
  expect(new Set(names).size).toBe(4)
  expect(names.filter((name) => !/^[a-z0-9-]{1,128}$/.test(name))).toEqual([])
})

test('a view that was renamed keeps its name: the label and the name are found, and given to no other', () => {
  const views = [{ name: 'slow', label: 'Slow calls' }]
  expect(nameView('Slow calls', views)).toBe('slow')
  expect(nameView('Slow', views)).toMatch(/^slow-\w+$/)
  expect(nameView('Slow', [])).toBe('slow')
})
