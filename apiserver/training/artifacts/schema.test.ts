import { expect, test } from 'vitest'
import { compileIssues } from '../../../lib/http/validation/compile.ts'
import { isFilePath, isMetadata, manifestSchema } from './schema.ts'

const rejected = ['../a.jsonl', '/a.jsonl', 'a//b.jsonl', 'a/./b', 'a/..', 'a\\b', 'a\0b', 'C:a', 'a\nb', '\ud800']

test.each([...rejected, 'x'.repeat(513), 'x'.repeat(256), ''])('a file cannot have the path %j', (path) => {
  expect(isFilePath(path)).toBe(false)
})

test.each(['train.jsonl', 'data/münchen 1.jsonl', `${'x'.repeat(255)}/名前`])('a file can have the path %j', (path) => {
  expect(isFilePath(path)).toBe(true)
})

const file = { path: 'a', digest: 'a'.repeat(64), size: 1 }
const find = compileIssues(manifestSchema)

test.each<[string, unknown, number]>([
  ['one file', { files: [file] }, 0],
  ['no files', { files: [] }, 1],
  ['an invalid digest', { files: [{ ...file, digest: 'A'.repeat(64) }] }, 1],
  ['an invalid size', { files: [{ ...file, size: -1 }] }, 1],
  ['a list', [], 1],
])('issues of a manifest with %s', (_, body, count) => {
  expect(find(body, 0)).toHaveLength(count)
})

test('metadata are an object of at most 64 KiB', () => {
  expect([{ a: 1 }, [1], { a: 'x'.repeat(65_536) }].map(isMetadata)).toEqual([true, false, false])
})
