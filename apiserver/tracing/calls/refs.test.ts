import { expect, test } from 'vitest'
import { findRefs } from './refs.ts'

const ref = 'weave:///e/p/object/a:1'

test.each<[string, unknown, string[] | undefined]>([
  ['none', { a: 'weave' }, undefined],
  ['a member', { a: ref }, [ref]],
  ['nested ones, each once', { a: [{ b: ref }, ref, `${ref}/attr/x`] }, [ref, `${ref}/attr/x`]],
  ['the value itself', ref, [ref]],
  ['not a key', { [ref]: 1 }, undefined],
  ['not within a text', { a: `see ${ref}`, b: `say "${ref}" twice` }, undefined],
  ['one with escapes', { a: `${ref}/key/"é"` }, [`${ref}/key/"é"`]],
])('references: %s', (_, value, expected) => {
  expect(findRefs(Buffer.from(JSON.stringify(value)))).toEqual(expected)
})

test('a text with many references is read once', () => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, () => ref))
  const startMs = performance.now()
  expect(findRefs(Buffer.from(JSON.stringify({ text, own: ref })))).toEqual([ref])
  // The search takes a few milliseconds. It took many seconds when it started again for each reference.
  expect(performance.now() - startMs).toBeLessThan(10_000)
})
