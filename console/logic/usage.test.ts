import { expect, test } from 'vitest'
import { arrangeUsage, listDays, nameGroup, type UsageRow } from './usage.ts'

const none = {
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  trained_tokens: 0,
  training_seconds: 0,
  gpu_seconds: 0,
}
const row = (changes: Partial<UsageRow>): UsageRow => ({ ...none, ...changes })

test('the last days end with today, in UTC', () => {
  expect(listDays(3, Date.parse('2026-03-01T00:30:00Z'))).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
})

test('groups have a name, also those without one', () => {
  const keys = new Map([['0123456789', 'ci']])
  expect(nameGroup(row({ project: null }), 'project', keys)).toBe('no project')
  expect(nameGroup(row({ model: '' }), 'model', keys)).toBe('unknown')
  expect(nameGroup(row({ key_id: '0123456789' }), 'key', keys)).toBe('ci')
  expect(nameGroup(row({ key_id: 'abcdefghij' }), 'key', keys)).toBe('key abcdefgh')
})

test('series have a value for each day, the largest first, and empty ones are left out', () => {
  const rows = [
    row({ project: 'a', day: 'mon', requests: 1 }),
    row({ project: 'b', day: 'tue', requests: 5 }),
    row({ project: 'b', day: 'tue', requests: 2 }),
    row({ project: 'c', day: 'tue', prompt_tokens: 9 }),
  ]
  const nameOf = ({ project }: UsageRow) => project ?? ''
  expect(arrangeUsage(rows, ['mon', 'tue'], { measure: 'requests', nameOf })).toEqual([
    { name: 'b', values: [0, 7], total: 7 },
    { name: 'a', values: [1, 0], total: 1 },
  ])
})

test('more groups than colours end in one of all others, and nothing is lost', () => {
  const rows = Array.from({ length: 12 }, (_, index) => row({ project: `p${index}`, day: 'mon', requests: index + 1 }))
  const series = arrangeUsage(rows, ['mon'], { measure: 'requests', nameOf: ({ project }) => project ?? '' })
  expect(series).toHaveLength(8)
  expect(series.at(-1)).toEqual({ name: '5 others', values: [15], total: 15 })
  expect(series.reduce((sum, { total }) => sum + total, 0)).toBe(78)
})
