import { expect, test } from 'vitest'
import { filterRuns, putFirst, sortRuns, type Run } from './runs.ts'

const run = (name: string, changes: Partial<Run> = {}): Run => ({
  id: name,
  name,
  base_model: 'tiny',
  latest_step: 0,
  created_at: '2026-01-01T00:00:00Z',
  aliases: {},
  loaded_engines: 0,
  activity: undefined,
  ...changes,
})
const runs = [
  run('warm-10', { latest_step: 3 }),
  run('warm-9', { aliases: { prod: 2 } }),
  run('cold', { base_model: 'big' }),
]
const names = (list: readonly Run[]) => list.map(({ name }) => name)

test('all words must occur, in the name, the base model or an alias', () => {
  expect(names(filterRuns(runs, 'WARM prod'))).toEqual(['warm-9'])
  expect(names(filterRuns(runs, 'big'))).toEqual(['cold'])
  expect(names(filterRuns(runs, '', 'tiny'))).toEqual(['warm-10', 'warm-9'])
  expect(names(filterRuns(runs, '  '))).toHaveLength(3)
})

test('numbers in names are ordered as numbers', () => {
  expect(names(sortRuns(runs, { column: 'name', descending: false }))).toEqual(['cold', 'warm-9', 'warm-10'])
  expect(names(sortRuns(runs, { column: 'step', descending: true }))[0]).toBe('warm-10')
})

test('picked runs come first and keep their order', () => {
  expect(names(putFirst(runs, ['cold', 'warm-9']))).toEqual(['warm-9', 'cold', 'warm-10'])
})
