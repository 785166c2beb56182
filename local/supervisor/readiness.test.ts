import { expect, test } from 'vitest'
import { isPostmasterReady } from './readiness.ts'

const lines = ['4711', '/data', '1790000000', '5432', '', '127.0.0.1', '  1234   5']

test.each([
  ['ready   ', true],
  ['starting', false],
  ['stopping', false],
])('a postmaster that says "%s"', (state, ready) => {
  expect(isPostmasterReady([...lines, state, ''].join('\n'))).toBe(ready)
})

test('a postmaster that has written only half of its file is not ready', () => {
  expect(isPostmasterReady(lines.slice(0, 3).join('\n'))).toBe(false)
})
