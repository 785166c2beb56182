import { describe, expect, test } from 'vitest'
import { estimateValueBytes, outlineJson } from './outline.ts'

describe('the outline of a text', () => {
  test.each([
    ['an object', '{"a": 1,"b":[2,{}]}', { depth: 3, containers: 3, commas: 2, members: ['"a"= 1', '"b"=[2,{}]'] }],
    ['an empty object', '{}', { depth: 1, containers: 1, commas: 0, members: [] }],
    ['a list of objects', '[{"a":1},{}]', { depth: 2, containers: 3, commas: 1, members: [] }],
    ['a text with brackets and commas', '"{[,:]}"', { depth: 0, containers: 0, commas: 0, members: [] }],
    ['a number', '1', { depth: 0, containers: 0, commas: 0, members: [] }],
  ])('that is %s', (_, text, expected) => {
    expect(outline(text)).toEqual(expected)
  })

  test('lists no members if there are too many, and counts all', () => {
    const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":[]`).join()}}`
    expect(outline(members(900)).members).toHaveLength(900)
    expect(outline(members(1_001))).toEqual({ depth: 2, containers: 1_002, commas: 1_000, members: [] })
  })
})

test('values take more memory than their text', () => {
  const size = (text: string) => estimateValueBytes(text.length, outlineJson(Buffer.from(text)))
  expect([size('"abc"'), size('[1,2]'), size('[{},{},{}]')]).toEqual([5, 145, 490])
})

function outline(text: string) {
  const { members, ...counts } = outlineJson(Buffer.from(text))
  const part = ({ start, end }: { start: number; end: number }) => text.slice(start, end)
  return { ...counts, members: members.map(({ key, value }) => `${part(key)}=${part(value)}`) }
}
