import { expect, test } from 'vitest'
import { filterRuns, putFirst, readRewards, sortRuns, type Run } from './runs.ts'

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

test('runs are ordered by their rewards, and those without are the least', () => {
  const rewarded = [
    run('none'),
    run('low', { rewards: { reward: -2, best: 0.5 } }),
    run('high', { rewards: { reward: 1, best: undefined } }),
    run('unread'),
  ]
  expect(names(sortRuns(rewarded, { column: 'reward', descending: true }))).toEqual(['high', 'low', 'none', 'unread'])
  expect(names(sortRuns(rewarded, { column: 'best', descending: true }))[0]).toBe('low')
})

test('the best reward of validation is that of all buckets, and not of their means', () => {
  const points = [1, 2].map((step) => ({ step, value: step / 10 }))
  const high = [
    { step: 1, value: 0.9 },
    { step: 2, value: 0.3 },
  ]
  const curves = {
    reward: { points, width: 1 },
    'val/reward': { points, width: 4, extremes: { low: points, high } },
  }
  expect(readRewards(curves)).toEqual({ reward: 0.2, best: 0.9 })
  expect(readRewards({})).toEqual({ reward: undefined, best: undefined })
})

test('picked runs come first and keep their order', () => {
  expect(names(putFirst(runs, ['cold', 'warm-9']))).toEqual(['warm-9', 'cold', 'warm-10'])
})
