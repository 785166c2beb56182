import { describe, expect, test } from 'vitest'
import { parseJson } from './document.ts'
import { findLoneSurrogate } from './lone-surrogate.ts'
import { JsonError } from './parse.ts'

const parse = (text: string) => parseJson(Buffer.from(text))
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()

describe('a JSON document', () => {
  test.each([
    ['a plain member', '{"a": 1, "b":[2]}', 'b', '[2]'],
    ['a number that loses digits when it is parsed', '{"seed":12345678901234567890}', 'seed', '12345678901234567890'],
    ['braces, commas and escaped quotes in texts', '{"x":"},:\\"{","a":{"b":"]"}}', 'a', '{"b":"]"}'],
    ['the last of a key given twice', '{"a":1,"a":2}', 'a', '2'],
    ['a key written with escapes', '{"\\u0061":3}', 'a', '3'],
    ['the last member, with white space', ' { "a" :\n4 } ', 'a', '\n4 '],
    ['the key __proto__', '{"__proto__":{"a":1}}', '__proto__', '{"a":1}'],
    ['a missing member', '{"b":1}', 'a', undefined],
    ['a member of a nested object only', '{"b":{"a":1}}', 'a', undefined],
    ['an array', '[{"a":1}]', 'a', undefined],
  ])('gives the bytes of %s', (_, source, name, expected) => {
    expect(text(parse(source).members.get(name))).toBe(expected)
  })

  test.each([
    ['adds to an empty object', '{}', { model: 'x' }, '{"model":"x"}'],
    ['replaces, and leaves all other bytes', '{"a": 1.0, "model":"x"}', { model: 'y' }, '{"a": 1.0,"model":"y"}'],
    ['leaves out', '{"a":1,"b":2}', { a: undefined }, '{"b":2}'],
    ['leaves out all', '{"a":1}', { a: undefined }, '{}'],
    ['replaces a key given twice once', '{"m":1,"a":0,"m":2}', { m: 3 }, '{"a":0,"m":3}'],
  ])('%s', (_, source, changes, expected) => {
    expect(text(parse(source).members.change(changes))).toBe(expected)
  })

  test.each([
    ['cut off', '{"a":'],
    ['empty', ''],
    ['NaN', '{"a":NaN}'],
    ['a text without an end', '{"a":"\\'],
    ['brackets that close too often', ']]]]{"a":1}'],
    ['more than twelve million objects or arrays', `[${'[],'.repeat(12_000_000)}[]]`],
    ['nested too deeply', '['.repeat(129) + ']'.repeat(129)],
  ])('rejects %s', (_, source) => {
    expect(() => parse(source)).toThrow(JsonError)
  })

  test('rejects bytes that are not UTF-8', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow('not valid UTF-8')
  })

  test.each([
    ['half a pair in a list', '{"a":["x","\\ud800"]}', ['a', '1']],
    ['half a pair in a key', '{"a":{"\\uDFFF":1}}', ['a']],
    ['a whole pair', '{"a":"\\ud83d\\ude00"}', undefined],
    ['an escaped backslash before it', '{"a":"\\\\ud800"}', undefined],
  ])('finds a lone surrogate: %s', (_, source, expected) => {
    expect(findLoneSurrogate(parse(source))).toEqual(expected)
  })
})
