import { expect, test } from 'vitest'
import { formatAge, formatDuration, formatUntil } from './time.ts'

test.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.9, '1.0 s'],
  [9_940, '9.9 s'],
  [59_400, '59 s'],
  [59_600, '1 min'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [90 * 60_000, '1 h 30 min'],
  [50 * 3_600_000, '2 d 2 h'],
])('%s ms are %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
})

test('ages have one unit, and a time that is to come is now', () => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  const ago = (seconds: number) => formatAge(new Date(now - seconds * 1000).toISOString(), now)
  expect([-5, 4, 59, 61, 7200, 86_400].map(ago)).toEqual([
    'just now',
    'just now',
    '59 s ago',
    '1 min ago',
    '2 h ago',
    '1 d ago',
  ])
})

test.each([
  [-9, 'in less than a minute'],
  [59, 'in less than a minute'],
  [60, 'in about 1 minute'],
  [230, 'in about 4 minutes'],
  [89 * 60, 'in about 89 minutes'],
  [2.4 * 3600, 'in about 2 hours'],
  [40 * 3600, 'in about 2 days'],
])('a time that is %s s away is %s', (seconds, text) => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  expect(formatUntil(new Date(now + seconds * 1000).toISOString(), now)).toBe(text)
})
