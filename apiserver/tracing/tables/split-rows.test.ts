import { expect, test } from 'vitest'
import { splitItems } from './split-rows.ts'

test.each([
  ['nothing', '[]', []],
  ['only white space', '[ \n ]', []],
  ['one', '[{"a":[1,"]"]}]', ['{"a":[1,"]"]}']],
  [
    'several rows with white space between them',
    '[ 1 , {"a": "é,"}\n,[[2]],"\\"",null ]',
    ['1', '{"a": "é,"}', '[[2]]', '"\\""', 'null'],
  ],
])('an array of %s', (_, text, items) => {
  expect([...splitItems(Buffer.from(text))]).toEqual(items)
})
