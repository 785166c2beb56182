import { expect, test } from 'vitest'
import { flattenJson } from './flatten.ts'

const nest = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`

test.each([
  ['500 levels stay', nest(500, '1'), nest(500, '1')],
  ['the 501st becomes null', nest(501, '1'), nest(500, 'null')],
  ['each of several does', nest(500, '[],{"a":[[]]},"[",[1,2]'), nest(500, 'null,null,"[",null')],
  ['what comes after stays', `${nest(600)},{"a": 1}`, `${nest(500, 'null')},{"a": 1}`],
  ['nothing is left of what has no end', '['.repeat(501), `${'['.repeat(500)}null`],
])('%s', (_, text, expected) => {
  expect(flattenJson(Buffer.from(text)).toString()).toBe(expected)
})
