import { expect, test } from 'vitest'
import { cutPreview, readPreview } from './preview.ts'

const limits = { nodes: 10, characters: 5, allCharacters: 12, depth: 3 }

test('a small value is whole', () => {
  expect(cutPreview({ a: [1, 'x', null] }, limits)).toEqual({ value: { a: [1, 'x', null] }, isCut: false })
})

test.each<[string, unknown, unknown]>([
  ['a long text', 'abcdefgh', 'abcde… 3 more characters'],
  ['many items', Array.from({ length: 100 }, () => 1), [...Array.from({ length: 9 }, () => 1), '… 91 more items']],
  ['a deep value', [[[[1]]]], [[['… deeper levels']]]],
])('%s is cut and says so', (_, value, shown) => {
  expect(cutPreview(value, limits)).toEqual({ value: shown, isCut: true })
})

test('all texts together are limited', () => {
  const { value, isCut } = cutPreview(['abcd', 'abcd', 'abcd', 'abcd'], limits)
  expect([value, isCut]).toEqual([['abcd', 'abcd', 'abcd', '… 4 more characters'], true])
})

test('an answer without a call is nothing', () => {
  expect(readPreview('{"call":null}')).toBeNull()
})
