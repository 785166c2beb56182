import { expect, test } from 'vitest'
import { flattenJson } from './flatten.ts'

const nest = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`

test.each([
  ['500 levels stay unchanged', nest(500, '1'), nest(500, '1')],
  ['the 501st becomes null', nest(501, '1'), nest(500, 'null')],
  ['each of several deep values becomes null', nest(500, '[],{"a":[[]]},"[",[1,2]'), nest(500, 'null,null,"[",null')],
  ['later values stay unchanged', `${nest(600)},{"a": 1}`, `${nest(500, 'null')},{"a": 1}`],
  ['a deep value without an end becomes null', '['.repeat(501), `${'['.repeat(500)}null`],
])('%s', (_, text, expected) => {
  expect(flattenJson(Buffer.from(text)).toString()).toBe(expected)
})
