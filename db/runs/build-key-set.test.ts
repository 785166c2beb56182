import { expect, test } from 'vitest'
import { buildKeySet } from './build-key-set.ts'

test('lines with the same keys in another order have the same set', () => {
  expect(buildKeySet({ a: 1, b: { c: 'x', d: { _type: 'histogram', bins: [] } } })).toEqual(
    buildKeySet({ b: { d: { _type: 'histogram', bins: [1] }, c: 'y' }, a: 2 }),
  )
  expect(buildKeySet({ a: 1, b: { c: 'x', d: { _type: 'histogram' } } })?.keys).toEqual({
    a: 'number',
    b: 'map',
    'b.c': 'string',
    'b.d': 'histogram',
  })
})

test('keys that are long with the names around them are no set', () => {
  const inner = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, 1]))
  expect(buildKeySet({ ['a'.repeat(50_000)]: inner })).toBeUndefined()
})
