import { expect, test } from 'vitest'
import { requireEntity } from './entity.ts'

test.each(['local', 'Team-7', 'a.b_c'])('%s names an entity', (name) => {
  expect(() => requireEntity(name)).not.toThrow()
})

test.each([
  ['', /is not a valid entity name/],
  ['a/b', /is not a valid entity name/],
  ['-a', /is not a valid entity name/],
  ['Admin', /is reserved/],
])('"%s" does not', (name, sentence) => {
  expect(() => requireEntity(name)).toThrow(sentence)
})
