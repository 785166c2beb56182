import { describe, expect, test } from 'vitest'
import { cleanJson } from './clean.ts'

const raw = String.raw

describe('hostile text is replaced', () => {
  test.each([
    ['NUL', raw`{"a":"x\u0000y"}`, raw`{"a":"x\ufffdy"}`],
    ['a high surrogate alone', raw`["\ud83d."]`, raw`["\ufffd."]`],
    ['a low surrogate alone', raw`["\uDE00"]`, raw`["\ufffd"]`],
    ['two high surrogates', raw`["\ud83d\ud83d\ude00"]`, raw`["\ufffd\ud83d\ude00"]`],
    ['a lone surrogate in a key', raw`{"\udfff":1}`, raw`{"\ufffd":1}`],
    ['NaN and infinities', '[NaN, -Infinity,Infinity]', '[null, null,null]'],
    ['NaN as a member', '{"a":NaN,"b":1}', '{"a":null,"b":1}'],
    ['NaN as the whole text', '-Infinity', 'null'],
    ['a lone surrogate behind an escaped backslash', raw`["\\\ud800", "\\ud800"]`, raw`["\\\ufffd", "\\ud800"]`],
    ['NaN only outside of texts', '{"NaN":["NaN",NaN]}', '{"NaN":["NaN",null]}'],
    ['several, with text between them', raw`[NaN,"\u0000é",1,Infinity]`, raw`[null,"\ufffdé",1,null]`],
  ])('%s', (_, text, expected) => {
    expect(cleanJson(Buffer.from(text)).toString()).toBe(expected)
  })

  test('bytes that are not UTF-8', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x61, 0xed, 0xa0, 0x80, 0x22])
    expect(cleanJson(bytes).toString()).toBe('"\ufffda\ufffd\ufffd\ufffd"')
  })
})

describe('everything else stays', () => {
  test.each([
    ['a surrogate pair', raw`["\ud83d\uDE00"]`],
    ['an escaped backslash before what looks like an escape', raw`["\\u0000\\ud800"]`],
    ['two surrogate pairs', raw`["\\\\u0000"]`],
    ['NaN and Infinity in texts', raw`["NaN", "\"Infinity", ",NaN,"]`],
    ['other escapes', raw`["\u0001\u00e9\ud7ff\n\/"]`],
    ['an escape that is cut off', raw`"\ud8`],
    ['a backslash at the end', raw`"NaN\ `.trim()],
    ['numbers of any size', `[1e400,-1e-400,${'9'.repeat(400)},1.0,-0]`],
  ])('%s', (_, text) => {
    expect(cleanJson(Buffer.from(text)).toString()).toBe(text)
  })

  test('in the same buffer if nothing is hostile', () => {
    const bytes = Buffer.from('{"a":"é😀","b":"\\u0001"}')
    expect(cleanJson(bytes)).toBe(bytes)
  })
})
