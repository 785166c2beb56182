import { expect, test } from 'vitest'
import { saltCache } from './cache-salt.ts'

test('each entity has a salt of its own, each of its own salts another, and no other installation has the same', () => {
  const salts = [
    saltCache('secret', 'team', undefined),
    saltCache('secret', 'others', undefined),
    saltCache('secret', 'team', 'mine'),
    saltCache('secret', 'team', ''),
    saltCache('other', 'team', undefined),
  ]
  expect(new Set(salts).size).toBe(salts.length)
  expect(saltCache('secret', 'team', null)).toBe(salts[0])
})

test('it is what engines take', () => {
  expect(saltCache('secret', 'team', 'a/b@c')).toMatch(/^[\w-]{43}$/)
})
