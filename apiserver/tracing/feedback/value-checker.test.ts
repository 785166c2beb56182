import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { runInTurn } from '../../../lib/request-scope.ts'
import { createAdmission } from '../../../test/support/admission.ts'
import { ValueChecker } from './value-checker.ts'

// A machine may be busy, so only checks that never end get a short limit.
const admission = createAdmission()
const [patient, impatient] = [new ValueChecker(admission, 30_000), new ValueChecker(admission, 500)]
const check = (schema: unknown, value: unknown, checker = patient) =>
  checker.check({ schema: JSON.stringify(schema), value: JSON.stringify(value) })

// [(((…)))]: the validator recurses to this depth.
const deep = (depth: number): unknown => (depth === 0 ? { type: 'number' } : { items: deep(depth - 1) })
// Each definition uses the next one twice.
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => {
    const next = { items: { $ref: `#/$defs/a${index + 1}` } }
    return [`a${index}`, { anyOf: [next, { allOf: [next] }] }]
  }),
)
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

test.each<[string, unknown, unknown, string]>([
  ['a number within bounds', { type: 'integer', minimum: 0, maximum: 10 }, 10, 'valid'],
  ['a number out of bounds', { type: 'integer', minimum: 0, maximum: 10 }, 11, 'invalid'],
  ['a value of an enum', { type: 'string', enum: ['yes', 'no'] }, 'no', 'valid'],
  ['a value that is not in the enum', { type: 'string', enum: ['yes', 'no'] }, 'maybe', 'invalid'],
  ['any value with an empty schema', {}, null, 'valid'],
  ['definitions in the form of pydantic', { $defs: { A: { type: 'string' } }, $ref: '#/$defs/A' }, 'x', 'valid'],
  ['a format, which is only a description', { type: 'string', format: 'email' }, 'nobody', 'valid'],
  [
    'an older dialect',
    { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'number' }] },
    ['x'],
    'invalid',
  ],
  [
    'the current dialect',
    { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'number' }] },
    ['x'],
    'invalid',
  ],
  ['a pattern with an unknown escape', { pattern: String.raw`^a\-b$` }, 'a-b', 'valid'],
  ['an unknown type', { type: 'integr' }, 1, 'bad schema'],
  ['an invalid pattern', { pattern: '(' }, 'x', 'bad schema'],
  ['a schema on another host', { $ref: 'https://example.com/schema.json' }, 1, 'bad schema'],
  ['a reference to itself', { $ref: '#' }, 1, 'bad schema'],
  ['an asynchronous schema', { $async: true, type: 'string' }, 1, 'bad schema'],
  ['deep nesting', deep(300), 1, 'valid'],
])('checks %s', async (_name, schema, value, expected) => {
  expect(await check(schema, value)).toBe(expected)
})

test('a pattern that never ends and a check that uses all memory end with their thread', async () => {
  const endless = { pattern: '^(a+)+$' }
  expect(await check(endless, `${'a'.repeat(40)}!`, impatient)).toBe('bad schema')
  const defs = { ...doubling, a40: { const: 2 } }
  expect(await check({ $defs: defs, $ref: '#/$defs/a0' }, nested(40), impatient)).toBe('bad schema')
  const text = `${'a'.repeat(40)}!`
  const both = [check(endless, text, impatient), check({ type: 'string' }, text)]
  expect(await Promise.all(both)).toEqual(['bad schema', 'valid'])
})

const witness = path.join(tmpdir(), `schema-${process.pid}`)
const code = `);process.getBuiltinModule("fs").writeFileSync("${witness}","");throw 1;//`
const quotes = [`"`, `'`, '`', '${', '\\', '\n', '\u2028', '*/'].map((quote) => quote + code)
// A schema with this text in every place that allows a name or a text of its own.
const spell = (text: string) => [
  { $id: text },
  { $anchor: text },
  { $dynamicAnchor: 'a', $dynamicRef: `#${text}` },
  { $defs: { [text]: { type: 'string' } }, $ref: `#/$defs/${encodeURIComponent(text)}` },
  { [text]: 1 },
  { const: text },
  { enum: [text, { [text]: text }] },
  { pattern: text },
  { format: text },
  { required: [text] },
  { properties: { [text]: { const: text } } },
  { patternProperties: { [text]: {} } },
  { dependentRequired: { [text]: [text] } },
  { dependentSchemas: { [text]: {} } },
  { discriminator: { propertyName: text }, oneOf: [{ properties: { [text]: { const: text } }, required: [text] }] },
  { type: [text] },
  { minimum: text },
  { maxLength: text },
  { title: text, description: text, $comment: text },
]

test.each(quotes)('no part of a schema runs as code: %j', async (text) => {
  for (const schema of spell(text)) await check(schema, { [text]: text })
  expect(existsSync(witness)).toBe(false)
})

test('schemas run without the environment of the process', async () => {
  const source = 'export default { run: () => Object.keys(process.env) }'
  const module = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
  const threads = new WorkerPool({ threads: 1, threadsPerKey: 1, resourceLimits: {} })
  expect(await threads.run({ module, task: 0, timeoutMs: 30_000 })).toEqual([])
})

test('too many concurrent checks are rejected, and later ones are accepted again', async () => {
  const text = JSON.stringify(`${'a'.repeat(40)}!`)
  const checker = new ValueChecker(createAdmission(), 30_000)
  const all = Array.from({ length: 70 }, () => checker.check({ schema: '{}', value: text }))
  const other = runInTurn({ key: 'other', weight: 1 }, () => checker.check({ schema: '{}', value: text }))
  const outcomes = await Promise.allSettled(all)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(60)
  expect(outcomes.at(-1)).toMatchObject({ reason: { status: 429 } })
  expect(await other).toBe('valid')
  expect(await checker.check({ schema: '{}', value: text })).toBe('valid')
})

test('an entity with more weight is served more often', async () => {
  const checker = new ValueChecker(createAdmission(), 30_000)
  const order: string[] = []
  const ask = (key: string, weight: number, count: number) =>
    Array.from({ length: count }, async () => {
      await runInTurn({ key, weight }, () => checker.check({ schema: '{}', value: '1' }))
      order.push(key)
    })
  // One entity uses one of the two threads nearly all of the time.
  await Promise.all([...ask('busy', 100, 40), ...ask('light', 1, 24), ...ask('heavy', 50, 24)])
  const others = order.filter((key) => key !== 'busy')
  // About 23. With equal weights it would be 12 to 15.
  expect(others.slice(0, 24).filter((key) => key === 'heavy').length).toBeGreaterThanOrEqual(19)
})
