import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseCases } from '../../test/support/random-cases.ts'
import { findMark, findTextEnd, scanValue, startScan } from './scan.ts'

const raw = String.raw

describe('the end of a text', () => {
  test.each([
    ['a closing quote', '"ab",1', 3],
    ['not an escaped quote', raw`"a\"b"`, 5],
    ['a quote after an escaped backslash', raw`"a\\",1`, 4],
    ['the length, if there is none', '"ab', 3],
    ['one more, if the last byte escapes a missing character', raw`"a\ `.trim(), 4],
  ])('is %s', (_, text, expected) => {
    expect(findTextEnd(Buffer.from(text), 1)).toBe(expected)
  })
})

describe('marks', () => {
  test.each([
    ['of the outermost object', '{"a,":[1,{}],"b":2}', 1, '{:,:}'],
    ['of the outermost array', '[1,[2,3],"]"]', 1, '[,,]'],
    ['of all objects and arrays at a level', '[[1,2],{"a":[3,4]}]', 2, '[,]{:}'],
    ['at the deepest level', '[[[]]]', 3, '[]'],
    ['none below the deepest level', '[[1,2]]', 3, ''],
  ])('%s', (_, text, level, expected) => {
    expect(listMarks(Buffer.from(text), level).join('')).toBe(expected)
  })
})

test('a scan counts, and finds the end of a value with a text after it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isWide) => {
      const text = JSON.stringify([value], null, isWide ? 1 : 0)
      const scan = startScan()
      expect(scanValue(scan, Buffer.from(`${text},"]`))).toBe(Buffer.byteLength(text))
      const { deepest, containers, commas } = scan
      expect({ deepest, containers, commas }).toEqual(countValues([value]))
    }),
    chooseCases(100),
  )
})

test('a value in parts ends where the whole value ends', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.jsonValue()),
    fc.dictionary(fc.string(), fc.string()),
  )
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 5 }), (source, step) => {
      const bytes = Buffer.from(`${JSON.stringify(source)}, "`)
      const whole = startScan()
      const length = scanValue(whole, bytes)
      expect(length).toBe(bytes.length - 3)
      const scan = startScan()
      let there = step
      let end = -1
      for (; end < 0; there += step) end = scanValue(scan, bytes.subarray(0, there))
      expect({ end, scan }).toEqual({ end: length, scan: whole })
    }),
    chooseCases(100),
  )
})

function listMarks(bytes: Buffer, level: number): string[] {
  const scan = startScan()
  const marks: string[] = []
  for (let at = findMark(scan, bytes, level); at >= 0; at = findMark(scan, bytes, level)) {
    marks.push(String.fromCharCode(bytes[at]!))
  }
  return marks
}

interface Counts {
  deepest: number
  containers: number
  commas: number
}

function countValues(value: unknown): Counts {
  if (typeof value !== 'object' || value === null) return { deepest: 0, containers: 0, commas: 0 }
  const members = Object.values(value).map(countValues)
  const sum = (of: 'containers' | 'commas') => members.reduce((total, counts) => total + counts[of], 0)
  return {
    deepest: 1 + Math.max(0, ...members.map(({ deepest }) => deepest)),
    containers: 1 + sum('containers'),
    commas: Math.max(0, members.length - 1) + sum('commas'),
  }
}
