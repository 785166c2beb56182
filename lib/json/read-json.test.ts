import fc from 'fast-check'
import { setImmediate as nextEvents } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { chooseCases } from '../../test/support/random-cases.ts'
import { JsonError } from './parse.ts'
import { readJson, readJsonInTurns } from './read-json.ts'
import { JsonText } from './json-text.ts'

const read = (text: string, texts: string[] = []) => showTexts(readJson(Buffer.from(text), texts))

/** Shows texts as `<text>`, so that whole values can be compared. */
function showTexts(value: unknown): unknown {
  if (value instanceof JsonText) return `<${value.toString()}>`
  if (Array.isArray(value)) return value.map(showTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, showTexts(member)]))
}

describe('texts keep the bytes that were written', () => {
  test.each([
    ['a member', '{"obj":{"val": {"a": 1.0} ,"b":2}}', ['obj.val'], { obj: { val: '<{"a": 1.0}>', b: 2 } }],
    ['items', '{"rows":[ {"a":1} ,2, null]}', ['rows[]'], { rows: ['<{"a":1}>', '<2>', '<null>'] }],
    ['members of items', '{"b":[{"p":[1e400]},{}]}', ['b[].p'], { b: [{ p: '<[1e400]>' }, {}] }],
    ['the whole', ' [1, 2] ', [''], '<[1, 2]>'],
    ['several, in any order', '{"b":1,"c":3,"a":2}', ['a', 'b'], { a: '<2>', b: '<1>', c: 3 }],
    ['a member with the name of a prototype', '{"__proto__":{"a":1}}', ['__proto__'], { ['__proto__']: '<{"a":1}>' }],
    ['a key written with escapes', String.raw`{"\u0061":1,"a\u0062":2}`, ['a', 'ab'], { a: '<1>', ab: '<2>' }],
    ['the last of a key given twice', '{"a":1,"b":0,"a":2}', ['a'], { a: '<2>', b: 0 }],
    ['the last of an outer key given twice', '{"a":{"v":1},"a":{"w":2}}', ['a.v'], { a: { w: 2 } }],
    ['the last of an outer key of another kind', '{"a":{"v":1},"a":7}', ['a.v'], { a: 7 }],
    ['no member of an array', '{"a":[{"v":1}]}', ['a.v'], { a: [{ v: 1 }] }],
    ['no items of an object', '{"a":{"0":1}}', ['a[]'], { a: { 0: 1 } }],
    ['none that is absent', '{"x":"a"}', ['a'], { x: 'a' }],
    ['a value between members that begin like it', '{"ax":1,"a":2,"":3}', ['a'], { ax: 1, a: '<2>', '': 3 }],
    ['brackets in texts', String.raw`{"a":"]}\"","b":["{",{}]}`, ['a'], { a: String.raw`<"]}\"">`, b: ['{', {}] }],
  ])('%s', (_, text, texts, expected) => {
    expect(read(text, texts)).toEqual(expected)
  })

  test('a text has its type, size and position', () => {
    const { v } = readJson(Buffer.from('{"v": [1] }'), ['v']) as { v: JsonText }
    expect([v.first, v.size, v.start, v.bytes.toString()]).toEqual(['[', 3, 6, '[1]'])
  })

  test('a byte order mark is skipped', () => {
    expect(read('\ufeff{"a":1,"b":2}', ['b'])).toEqual({ a: 1, b: '<2>' })
  })
})

test('exactly the values that JSON.parse accepts are accepted, as texts or not', () => {
  const parts = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '1',
    '-0.5e+2',
    '01',
    '1.',
    '.5',
    '-',
    'true',
    'nul',
    'null',
  ]
  const odd = [
    ' ',
    '\n',
    '\f',
    '"\\u00e9"',
    '"\\x"',
    '"\\u12"',
    '"\t"',
    '"',
    '\\',
    '1E5',
    '+1',
    'False',
    '\u00a0',
    '"é"',
  ]
  const piece = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...parts) }, fc.constantFrom(...odd))
  const text = fc.oneof(
    fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
    fc.json(),
    fc.tuple(fc.json(), piece, fc.nat()).map(([json, extra, at]) => json.slice(0, at % json.length) + extra),
  )
  fc.assert(
    fc.property(text, (source) => {
      const parsed = attempt(() => JSON.parse(source) as unknown)
      expect(attempt(() => readJson(Buffer.from(source), []))).toEqual(parsed)
      const kept = attempt(() => JSON.parse(String(readJson(Buffer.from(source), ['']))) as unknown)
      expect(kept).toEqual(parsed)
    }),
    chooseCases(1_000),
  )
})

function attempt(parse: () => unknown): unknown {
  try {
    return { value: parse() }
  } catch {
    return 'refused'
  }
}

describe('invalid texts', () => {
  test.each([
    ['nothing', ''],
    ['only white space', ' \n'],
    ['a payload that is cut off', '{"v":{"a":'],
    ['a payload that is not JSON', '{"v":{a:1}}'],
    ['a payload with a raw control character', '{"v":"\u0001"}'],
    ['text after the end', '{"v":1}{'],
    ['an additional comma', '{"v":1,}'],
    ['too many objects besides payloads', `{"w":[${'{},'.repeat(3_000_001)}{}]}`],
  ])('%s', (_, text) => {
    expect(() => read(text, ['v'])).toThrow(JsonError)
  })

  test('but not that many objects in a payload', () => {
    const { v } = readJson(Buffer.from(`{"v":[${'{},'.repeat(3_000_001)}{}]}`), ['v']) as { v: JsonText }
    expect(v.size).toBe(9_000_007)
  })
})

describe('values nested more than 500 deep become null', () => {
  const nest = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`

  test.each([
    ['not 500 levels', nest(500, '"x"'), nest(500, '"x"')],
    ['the 501st', nest(501, '1'), nest(500, 'null')],
    ['a million levels', nest(1_000_000), nest(500, 'null')],
    ['only the values that are too deep', nest(499, '{"a":[1],"b":[[2],"]"]},3'), nest(499, '{"a":null,"b":null},3')],
  ])('%s', (_, text, expected) => {
    expect(String(readJson(Buffer.from(text), ['']))).toBe(expected)
  })

  test('levels around a payload count', () => {
    expect(read(`{"v":${nest(500)},"w":1}`, ['v'])).toEqual({ v: `<${nest(499, 'null')}>`, w: 1 })
  })

  test('a value without an end is rejected', () => {
    expect(() => read('['.repeat(100_000))).toThrow(JsonError)
  })
})

test('more texts than any request has are rejected', () => {
  const rows = (count: number) => Buffer.from(`{"rows":[${'{},'.repeat(count - 1)}{}]}`)
  expect(readJson(rows(1_000_000), ['rows[]'])).toBeDefined()
  expect(() => readJson(rows(1_000_001), ['rows[]'])).toThrow('too many values')
})

describe('reading in slices', () => {
  const rows = (count: number) =>
    Buffer.from(`{"v":[${'{},'.repeat(count)}{}],"w":[{"v":[[${'"\\"",'.repeat(count)}1]]}]}`)

  test('large texts give the same result as in one step', async () => {
    const texts = ['v', 'w[].v']
    const [one, other] = [rows(400_000), rows(300_001)]
    const both = await Promise.all([one, other].map((bytes) => readJsonInTurns(bytes, texts)))
    expect(both).toEqual([one, other].map((bytes) => readJson(bytes, texts)))
    expect(String((both[0] as { v: JsonText }).v)).toHaveLength(1_200_004)
  })

  test.each([
    ['a text that ends too early', rows(400_000).subarray(0, -3)],
    ['a text with mismatched brackets', Buffer.from(`{"v":[${'{},'.repeat(400_000)}{}}}`)],
  ])('%s is rejected', async (_, bytes) => {
    await expect(readJsonInTurns(bytes, ['v'])).rejects.toThrow(JsonError)
  })

  test('values that are nested too deeply become null', async () => {
    const deep = `${'['.repeat(501)}1${']'.repeat(501)}`
    const bytes = Buffer.from(`{"v":[${`${deep},`.repeat(1_000)}${deep}]}`)
    expect(await readJsonInTurns(bytes, ['v'])).toEqual(readJson(bytes, ['v']))
  })

  test('other work runs between two slices', async () => {
    const bytes = rows(4_000_000)
    let isDone = false
    const reading = readJsonInTurns(bytes, ['v', 'w[].v']).finally(() => (isDone = true))
    let count = 0
    for (; !isDone; count++) await nextEvents()
    await reading
    expect(count).toBeGreaterThan(4)
  })
})
