import { expect, test } from 'vitest'
import { splitBySize } from './split-by-size.ts'

test.each<[string, number[], number[][]]>([
  ['none', [], []],
  ['of size zero', [0, 0], [[0, 0]]],
  [
    'large ones',
    [9, 0, 9, 7],
    [
      [9, 0],
      [9, 7],
    ],
  ],
  ['one that is larger than the limit', [0, 30, 0], [[0], [30], [0]]],
])('a list is split by size: %s', (_, sizes, expected) => {
  expect([...splitBySize(sizes, 16, (size) => size)]).toEqual(expected)
})
