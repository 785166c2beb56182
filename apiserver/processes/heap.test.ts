import os from 'node:os'
import { expect, test } from 'vitest'
import { heapArguments } from './heap.ts'

const mib = 1024 * 1024

test('the heap of each process gets half of its share of a limited memory', () => {
  expect(heapArguments(1, 256 * mib)).toEqual(['--max-old-space-size=128'])
  expect(heapArguments(4, 256 * mib)).toEqual(['--max-old-space-size=32'])
})

test('without a limit, Node chooses the size of the heap', () => {
  expect(heapArguments(4, 0)).toEqual([])
  expect(heapArguments(4, os.totalmem())).toEqual([])
  expect(heapArguments(4, 2 ** 64)).toEqual([])
})
