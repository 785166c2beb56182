import { expect, test } from 'vitest'
import { Tenants } from './tenants.ts'

const tenants = new Tenants('trainyard', [
  { namespace: 'red', entities: ['red', 'shared'] },
  { namespace: 'blue', entities: ['blue'] },
  { namespace: 'red', entities: ['more'] },
])

test('the namespaces of the operator and of tenants are watched, each once', () => {
  expect(tenants.namespaces).toEqual(['trainyard', 'red', 'blue'])
})

test.each<[string, string, boolean]>([
  ['red', 'red', true],
  ['red', 'more', true],
  ['red', 'blue', false],
  ['blue', 'shared', false],
  ['trainyard', 'red', true],
])('in %s, resources may name %s: %s', (namespace, entity, expected) => {
  expect(tenants.mayClaim(namespace, entity)).toBe(expected)
})

test("the operator's own namespace can have a list too", () => {
  expect(new Tenants('trainyard', [{ namespace: 'trainyard', entities: ['red'] }]).mayClaim('trainyard', 'blue')).toBe(
    false,
  )
})
