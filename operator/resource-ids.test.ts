import { expect, test } from 'vitest'
import { ResourceIds } from './resource-ids.ts'

test('a key has the id that was found last, and a resource that is gone has none', () => {
  const ids = new ResourceIds()
  ids.record('1', 'ns/a')
  ids.record('2', 'ns/b')
  ids.record('3', 'ns/a')
  expect(['1', '2', '3'].map((id) => ids.find(id))).toEqual([undefined, 'ns/b', 'ns/a'])
  ids.forget('ns/b')
  expect(ids.find('2')).toBeUndefined()
})

test('an id that another resource has taken over stays with it', () => {
  const ids = new ResourceIds()
  ids.record('1', 'ns/old')
  ids.record('1', 'ns/new')
  ids.forget('ns/old')
  expect(ids.find('1')).toBe('ns/new')
})
