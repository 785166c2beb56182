import { expect, test } from 'vitest'
import { checkAliases, checkObjectId, checkTags, readSelector } from './object-names.ts'

const status = (check: () => void): number => {
  try {
    check()
    return 200
  } catch (error) {
    return (error as { status: number }).status
  }
}

test.each([
  ['no letters', '', 403],
  ['a space', 'a b', 403],
  ['a slash', 'a/b', 403],
  ['a NUL', 'a\0b', 403],
  ['a line break at its end', 'a\n', 403],
  ['129 letters', 'a'.repeat(129), 403],
  ['letters of any script', 'Ünïcode_名前-1.2', 200],
  ['128 letters', '𝒳'.repeat(128), 200],
])('the name of an object with %s', (_, name, expected) => {
  expect(status(() => checkObjectId(name))).toBe(expected)
})

test.each([
  ['latest', 400],
  ['v3', 400],
  ['', 400],
  ['a b', 400],
  ['a/b', 400],
  ['a:b', 400],
  ['x'.repeat(129), 400],
  ['v3x', 200],
])('the alias %j', (alias, expected) => {
  expect(status(() => checkAliases(['other', alias]))).toBe(expected)
})

test('a tag has 1 to 128 characters, and one request has at most 100 of them, or of aliases', () => {
  const many = (length: number) => Array.from({ length }, (_, index) => `a${index}`)
  expect(
    [[' '], ['x'.repeat(129)], ['a b'], many(100), many(101)].map((tags) => status(() => checkTags(tags))),
  ).toEqual([400, 400, 200, 200, 400])
  expect([many(100), many(101)].map((aliases) => status(() => checkAliases(aliases)))).toEqual([200, 400])
})

test.each([
  ['latest', 'latest'],
  ['v3', { index: 3 }],
  ['v99999999999999999999', { index: -1 }],
  ['v-1', { digest: 'v-1' }],
  ['v1x', { digest: 'v1x' }],
  ['', { digest: '' }],
])('a version is selected by %j', (text, expected) => {
  expect(readSelector(text)).toEqual(expected)
})
