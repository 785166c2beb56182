import { expect, test } from 'vitest'
import { withDescendants } from './delete.ts'

const call = (id: string, parentId: string | null) => ({ id, parentId })

test.each<[string, string[], { id: string; parentId: string | null }[], string[]]>([
  ['no descendants', ['a'], [call('a', null)], ['a']],
  [
    'children and grandchildren',
    ['a'],
    [call('c', 'b'), call('b', 'a'), call('a', null), call('x', null)],
    ['a', 'b', 'c'],
  ],
  ['of a call in the middle', ['b'], [call('a', null), call('b', 'a'), call('c', 'b')], ['b', 'c']],
  ['a cycle', ['a'], [call('a', 'b'), call('b', 'a')], ['a', 'b']],
  ['below a call that was not found', ['a'], [call('b', 'a')], ['a', 'b']],
])('descendants: %s', (_, ids, calls, expected) => {
  expect(withDescendants(ids, calls)).toEqual(expected)
})
