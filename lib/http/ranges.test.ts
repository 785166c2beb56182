import { expect, test } from 'vitest'
import { readRange, type WantedRange } from './ranges.ts'

test.each<[string, number, WantedRange]>([
  ['', 10, 'whole'],
  ['bytes=0-3', 10, { start: 0, end: 3 }],
  ['bytes=4-', 10, { start: 4, end: 9 }],
  ['bytes=4-99', 10, { start: 4, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-99', 10, { start: 0, end: 9 }],
  ['bytes=-0', 10, 'outside'],
  ['bytes=10-', 10, 'outside'],
  ['bytes=99999999999999999999-', 10, 'outside'],
  ['bytes=0-0', 0, 'outside'],
  ['bytes=5-2', 10, 'whole'],
  ['bytes=-', 10, 'whole'],
  ['bytes=a-b', 10, 'whole'],
  ['bytes=0-1,3-4', 10, 'whole'],
  ['lines=0-1', 10, 'whole'],
])('%j of %i bytes', (header, size, expected) => {
  expect(readRange(header, size)).toEqual(expected)
})
