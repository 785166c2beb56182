import { expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { parseChatRequest } from './chat-schema.ts'
import { findLargeGrammars } from './grammar.ts'

function find(more: object): string[] {
  const document = parseJson(Buffer.from(JSON.stringify({ messages: [{ role: 'user' }], ...more })))
  return findLargeGrammars(parseChatRequest(document), document.members).map(({ msg }) => msg)
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)
const schemaOf = (count: number) => ({
  type: 'object',
  properties: Object.fromEntries(texts(count).map((name) => [name, { type: 'string' }])),
  required: texts(count),
})
const nest = (depth: number): object => (depth === 0 ? {} : { items: nest(depth - 1) })
const formatOf = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'a', schema } })
const toolOf = (parameters: object, more: object = {}) => ({
  type: 'function',
  function: { name: 'f', parameters, ...more },
})
const items = (name: string, count: number) => [
  `${name} should have at most 1000 choices and properties in all, not ${count}`,
]

test.each([
  ['choices', { structured_outputs: { choice: texts(1_001) } }, items('structured_outputs', 1_001)],
  ['items of an enum', { structured_outputs: { json: { enum: texts(1_200) } } }, items('structured_outputs', 1_200)],
  [
    'items in a text',
    { structured_outputs: { json: JSON.stringify({ enum: texts(1_200) }) } },
    items('structured_outputs', 1_200),
  ],
  [
    'items of several enums',
    { response_format: formatOf({ properties: { a: { enum: texts(600) }, b: { enum: texts(600) } } }) },
    items('response_format', 1_202),
  ],
  ['properties', { response_format: formatOf(schemaOf(1_001)) }, items('response_format', 1_001)],
  [
    'bytes of a regular expression',
    { structured_outputs: { regex: 'a'.repeat(70_000) } },
    ['structured_outputs should have at most 65536 bytes, not 70012'],
  ],
  [
    'levels',
    { structured_outputs: { json: nest(64) } },
    ['Schemas in structured_outputs should be nested at most 64 deep'],
  ],
  [
    'levels in a text',
    { structured_outputs: { json: '['.repeat(30_000) + ']'.repeat(30_000) } },
    ['Schemas in structured_outputs should be nested at most 64 deep'],
  ],
  ['tools', { tools: Array(513).fill(toolOf({})) }, ['A chat should have at most 512 tools, not 513']],
  [
    'bytes of tools',
    { tools: [toolOf({}, { description: 'a'.repeat(262_144) })] },
    [expect.stringMatching(/^tools should have at most 262144 bytes, not \d+$/)],
  ],
  [
    'properties that are required',
    { tools: [toolOf(schemaOf(1_001))], tool_choice: 'required' },
    items('tools', 1_001),
  ],
  [
    'properties of a tool that is named',
    { tools: [toolOf(schemaOf(1_001))], tool_choice: { type: 'function', function: { name: 'f' } } },
    items('tools', 1_001),
  ],
  ['properties of a strict tool', { tools: [toolOf(schemaOf(1_001), { strict: true })] }, items('tools', 1_001)],
])('too many %s are an issue', (_, more, issues) => {
  expect(find(more)).toEqual(issues)
})

test.each([
  ['nothing', {}],
  ['nulls', { response_format: null, tools: null, structured_outputs: null }],
  ['a thousand choices', { structured_outputs: { choice: texts(1_000) } }],
  ['a thousand properties', { response_format: formatOf(schemaOf(1_000)) }],
  ['a text that is not JSON', { structured_outputs: { json: '{' } }],
  ['64 levels', { structured_outputs: { json: nest(63) } }],
  ['tools that need not be called', { tools: [toolOf(schemaOf(1_001))], tool_choice: 'auto' }],
  ['tools that are not called', { tools: [toolOf(schemaOf(1_001), { strict: true })], tool_choice: 'none' }],
  [
    'a named tool beside a large one',
    {
      tools: [toolOf(schemaOf(1_001)), toolOf({}, { name: 'g' })],
      tool_choice: { type: 'function', function: { name: 'g' } },
    },
  ],
])('%s passes', (_, more) => {
  expect(find(more)).toEqual([])
})
