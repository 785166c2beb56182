import { expect, test } from 'vitest'
import { parseStat } from './process-stat.ts'

test('a stat line is read even if the name contains spaces and brackets', () => {
  const line = `42 (a) b (c) S 1 42 42 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 98765 0 0\n`
  expect(parseStat(line)).toEqual({ pid: 42, startTicks: '98765', state: 'S', session: 42 })
})

test('an invalid stat line has no values', () => {
  expect([parseStat(''), parseStat('42 (x'), parseStat('x (y) S 1')]).toEqual([undefined, undefined, undefined])
})
