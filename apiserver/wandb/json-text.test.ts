import { expect, test } from 'vitest'
import { isDocument, maxDocumentValues } from './json-text.ts'

test.each<[string, string, boolean]>([
  ['an object', '{"a": {"value": 1}}', true],
  ['a list', '[1]', false],
  ['no JSON', '{', false],
  ['many values', `{"a": [${'1,'.repeat(maxDocumentValues - 10)}1]}`, true],
  ['too many values', `{"a": [${'1,'.repeat(maxDocumentValues)}1]}`, false],
  ['too many lists', `{"a": [${'[],'.repeat(maxDocumentValues / 2)}1]}`, false],
])('%s as a config', (_, text, isOne) => {
  expect(isDocument(text)).toBe(isOne)
})
