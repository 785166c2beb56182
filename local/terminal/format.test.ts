import { expect, test } from 'vitest'
import { fitLine, formatBar, formatDuration } from './format.ts'

test.each([
  [400, '0 s'],
  [59_400, '59 s'],
  [125_000, '2 min 05 s'],
])('%d ms is shown as %s', (ms, shown) => {
  expect(formatDuration(ms)).toBe(shown)
})

test.each([
  [0, '[----------]   0 %'],
  [0.524, '[#####-----]  52 %'],
  [1.7, '[##########] 100 %'],
])('a bar of %d', (fraction, shown) => {
  expect(formatBar(fraction, 10)).toBe(shown)
})

test('a line that is too long is cut to the width', () => {
  expect(fitLine('0123456789', 5)).toBe('0123…')
  expect(fitLine('0123', 5)).toBe('0123')
})
