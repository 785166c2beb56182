import { expect, test } from 'vitest'
import { TooManyValues } from '../../../lib/json/value.ts'
import { StoredValue, walk } from './walk.ts'

const edges = [{ kind: 'index' as const, value: '0' }]

test('a value with too many parts is not read, but can be returned as a whole', () => {
  const stored = new StoredValue(`[${'1,'.repeat(1_000_000)}1]`)
  expect(() => walk(stored, edges, 'e/p')).toThrow(TooManyValues)
  expect(walk(stored, [], 'e/p')).toEqual({ text: stored.text })
})

test('a value that was dropped from the cache is read again', () => {
  const stored = new StoredValue('[1]')
  walk(stored, edges, 'e/p')
  stored.forget()
  expect(walk(stored, edges, 'e/p')).toEqual({ text: '1' })
})
