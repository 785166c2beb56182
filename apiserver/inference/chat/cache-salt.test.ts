import { expect, test } from 'vitest'
import { saltCache } from './cache-salt.ts'

test('the salt depends on the entity, on the salt of its client, and on the installation', () => {
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

test('a salt has only characters that engines accept', () => {
  expect(saltCache('secret', 'team', 'a/b@c')).toMatch(/^[\w-]{43}$/)
})
