import { expect, test } from 'vitest'
import { weekOf, weeksOf } from './week.ts'

test.each([
  ['a UUIDv7 of 1970', '00000000-0000-7000-8000-000000000000', 0],
  ['one of a week later', '0000240c-8400-7000-8000-000000000000', 1],
  ['one of November 2026', '01a1fb67-1800-7abc-9def-0123456789ab', 2968],
  ['the last week with a number', '120641ff-ffff-7000-8000-000000000000', 32767],
  ['one of a far future', 'ffffffff-ffff-7fff-bfff-ffffffffffff', -1],
  ['a random UUID', '019db5b5-1bd8-4abc-9def-0123456789ab', -1],
  ['the id of a span', '0123456789abcdef', -1],
  ['capital letters, which are another id', '019DB5B5-1BD8-7ABC-9DEF-0123456789AB', -1],
  ['anything', 'x', -1],
])('%s', (_, id, expected) => {
  expect(weekOf(id)).toBe(expected)
})

test('each week of several calls is listed once', () => {
  expect(weeksOf(['x', 'y', '00000000-0000-7000-8000-000000000000'])).toEqual([-1, 0])
})
