import { expect, test } from 'vitest'
import { TaggedEntries } from './tagged-entries.ts'

const own = (value: number, owner = 'ours', ...tags: string[]) => ({ value, owner, tags })

test('an entry is there until one of its tags is removed', () => {
  const entries = new TaggedEntries<number>(10)
  entries.set('a', own(1, 'ours', 'x', 'y'))
  entries.set('b', own(2, 'ours', 'y'))
  entries.deleteTagged('x')
  entries.deleteTagged('x')
  expect([entries.get('a'), entries.get('b')]).toEqual([undefined, 2])
  entries.set('b', own(3, 'ours', 'z'))
  entries.deleteTagged('y')
  expect(entries.get('b')).toBe(3)
  entries.clear()
  expect([entries.get('b'), entries.size]).toEqual([undefined, 0])
})

test('the least recently used entry is removed', () => {
  const entries = new TaggedEntries<number>(3)
  for (const key of ['a', 'b', 'c']) entries.set(key, own(1))
  entries.get('a')
  entries.set('d', own(1))
  expect(['a', 'b', 'c', 'd'].filter((key) => entries.has(key))).toEqual(['a', 'c', 'd'])
})

test('an owner with too many entries loses its own', () => {
  const entries = new TaggedEntries<number>(1_000)
  for (let index = 0; index < 100; index++) entries.set(`ours ${index}`, own(index))
  for (let index = 0; index < 50_000; index++) entries.set(`theirs ${index}`, own(index, 'theirs', `${index}`))
  expect(entries.size).toBe(1_000)
  expect(Array.from({ length: 100 }, (_, index) => entries.get(`ours ${index}`))).not.toContain(undefined)
})
