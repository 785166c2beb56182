import { describe, expect, test } from 'vitest'
import { JsonReader, TooLarge, type JsonPiece, type ReaderLimits, type ReadInto } from './reader.ts'
import { JsonError } from './parse.ts'

const limits: ReaderLimits = { pieceBytes: 1_000, pieceContainers: 10, pieceCommas: 20, totalContainers: 30 }

test('a reader walks into objects and arrays, and returns values with their positions', () => {
  const reader = open(' [ {"a" : "b"}, 7 ] ')
  const seen: unknown[] = [reader.next()]
  reader.readArray((index) => seen.push(index, reader.next(), reader.readPiece()))
  reader.readEnd()
  expect(seen).toEqual([
    'array',
    0,
    'object',
    { value: { a: 'b' }, start: 3, size: 11, hasSurrogates: false },
    1,
    'other',
    { value: 7, start: 16, size: 1, hasSurrogates: false },
  ])
})

test.each([
  ['texts', String.raw`"a\"}\\"`],
  ['numbers and words', '[-1.5e+3,true,null]'],
  ['values larger than the window', `{"a":"${'é'.repeat(300)}","b":[[],{}]}`],
])('a source of one byte at a time gives %s', (_, text) => {
  const bytes = Buffer.from(`\uFEFF{"key":${text}}`)
  let at = 0
  const reader = new JsonReader((into) => into.set(bytes.subarray(at, ++at)) ?? (at <= bytes.length ? 1 : 0), limits, 4)
  const pieces: [string, JsonPiece][] = []
  reader.readObject((key) => pieces.push([key, reader.readPiece()]))
  reader.readEnd()
  const size = Buffer.byteLength(text)
  expect(pieces).toEqual([['key', { value: JSON.parse(text), start: 10, size, hasSurrogates: false }]])
})

test.each([
  ['a lone half', String.raw`"\ud800"`, true],
  ['a pair', String.raw`"\uD83D\uDE00"`, true],
  ['other escapes', String.raw`"\u00e9"`, false],
])('a piece with %s may have half of a surrogate pair: %s is %s', (_, text, expected) => {
  expect(open(text).readPiece().hasSurrogates).toBe(expected)
})

describe('a reader rejects', () => {
  test.each([
    ['a piece of too many bytes', `"${'x'.repeat(1_000)}"`, 'piece'],
    ['a piece of too many objects and arrays', `[${'[],'.repeat(9)}[]]`, 'piece'],
    ['a piece of too many commas', `[${'1,'.repeat(21)}1]`, 'piece'],
  ])('%s', (_, text, what) => {
    expect(() => open(text).readPiece()).toThrow(expect.objectContaining({ name: 'TooLarge', what }))
  })

  test('too many objects and arrays in total, read as pieces or walked into', () => {
    const items = (count: number) => `[${'[[]],'.repeat(count - 1)}[[]]]`
    const readAll = (text: string) => {
      const reader = open(text)
      reader.readArray(() => reader.readArray(() => reader.readPiece()))
    }
    readAll(items(14))
    expect(() => readAll(items(15))).toThrow(TooLarge)
    expect(() => readAll(items(15))).toThrow(expect.objectContaining({ what: 'text' }))
  })

  test.each([
    [
      'an object without an end',
      '{"a":',
      'not valid JSON at byte 0: a string, list or object that starts here is not closed',
    ],
    ['an invalid number', ' 01', 'not valid JSON at byte 2'],
    ['nothing', '', 'not valid JSON at byte 0'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
  ])('%s', (_, text, message) => {
    const read = () => open(text).readPiece()
    expect(read).toThrow(JsonError)
    expect(read).toThrow(message)
  })

  test.each([
    ['a name without quotes', '{a:1}', 'not valid JSON at byte 1: expected a name in double quotes'],
    ['a name without a colon', '{"a" 1}', 'not valid JSON at byte 5: : is missing'],
    ['members without a comma', '{"a":1 "b":2}', 'not valid JSON at byte 7: } is missing'],
    ['text after the end', '{"a":1} 2', 'not valid JSON at byte 8: unexpected text after the end of the value'],
  ])('%s', (_, text, message) => {
    expect(() => {
      const reader = open(text)
      reader.readObject(() => reader.readPiece())
      reader.readEnd()
    }).toThrow(message)
  })

  test('values that are nested too deeply, including the levels around them', () => {
    const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const wide = { ...limits, pieceContainers: 1_000, totalContainers: 1_000 }
    const read = (text: string) => {
      const reader = open(text, wide)
      reader.readArray(() => reader.readPiece())
    }
    read(nest(128))
    expect(() => read(nest(129))).toThrow('nested more than 128 levels deep')
  })
})

function open(text: string | Buffer, most = limits): JsonReader {
  return new JsonReader(readBytes(Buffer.from(text)), most)
}

function readBytes(bytes: Buffer): ReadInto {
  let at = 0
  return (into) => {
    const size = bytes.copy(into, 0, at)
    at += size
    return size
  }
}
