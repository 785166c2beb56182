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

test('a key that is long with the names around it is left out', () => {
  const long = 'a'.repeat(1_020)
  expect(buildKeySet({ [long]: { key: 1, longer: 1 }, ['b'.repeat(1_025)]: 1 })?.keys).toEqual({
    [long]: 'map',
    [`${long}.key`]: 'number',
  })
})

test('many keys that are long with the names around them are no set', () => {
  const inner = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key${index}`, 1]))
  expect(buildKeySet({ ['a'.repeat(1_000)]: inner })).toBeUndefined()
})
