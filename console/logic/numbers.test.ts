import { expect, test } from 'vitest'
import {
  countOf,
  formatBytes,
  formatMetric,
  formatSigned,
  formatTicks,
  mean,
  standardDeviation,
  describeSize,
} from './numbers.ts'

test.each([
  [0, '0'],
  [0.5, '0.500'],
  [-0.5, '−0.500'],
  [12.3456, '12.35'],
  [123.456, '123.5'],
  [12, '12'],
  [-12, '−12'],
  [12_345, '12.3K'],
  [0.00012, '1.2e-4'],
  [-0.00012, '−1.2e-4'],
  [3e-12, '3.0e-12'],
  [Number.NaN, '–'],
  [undefined, '–'],
])('the metric %s is %s', (value, text) => {
  expect(formatMetric(value)).toBe(text)
})

test.each([
  [
    [1, 1.5, 2],
    ['1.0', '1.5', '2.0'],
  ],
  [
    [-0.2, 0, 0.2],
    ['−0.2', '0.0', '0.2'],
  ],
  [
    [0.25, 0.30000000000000004],
    ['0.25', '0.30'],
  ],
  [
    [800, 1000],
    ['800', '1,000'],
  ],
  [
    [0, 20_000],
    ['0', '20K'],
  ],
  [
    [0, 0.0005],
    ['0', '5.0e-4'],
  ],
  [[], []],
])('the ticks %s are %s', (ticks, texts) => {
  expect(formatTicks(ticks)).toEqual(texts)
})

test('signs are shown for advantages', () => {
  expect([0.25, -0.25, 0, null].map(formatSigned)).toEqual(['+0.250', '−0.250', '0', '–'])
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1500, '1.5 kB'],
  [250e6, '250 MB'],
  [3e15, '3000 TB'],
])('%s bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('means and deviations of nothing are unknown', () => {
  expect([mean([]), standardDeviation([])]).toEqual([undefined, undefined])
  expect([mean([1, 3]), standardDeviation([1, 3])]).toEqual([2, 1])
})

test('a word follows its count', () => {
  expect([countOf(1, 'job'), countOf(1200, 'trajectory', 'trajectories')]).toEqual(['1 job', '1,200 trajectories'])
})

test.each([
  [12, { isWhole: true, total: 12 }, '12 jobs'],
  [1, { isWhole: true, total: 1 }, '1 job'],
  [1_000, { isWhole: false, total: 8_412 }, '1,000 of 8,412 jobs'],
  [1_000, { isWhole: false, total: 100_000 }, '1,000 of more than 100,000 jobs'],
  [500, { isWhole: false, total: undefined }, '500 of more jobs'],
])('a list that shows %d of %j is described as %s', (shown, size, text) => {
  expect(describeSize(shown, size, 'job')).toBe(text)
})
