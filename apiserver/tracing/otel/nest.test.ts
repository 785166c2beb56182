import { expect, test } from 'vitest'
import { JsonNumber, type Value, writeValue, TooManyValues, ValueBudget } from '../../../lib/json/value.ts'
import { nestAttributes, nestIfPossible } from './nest.ts'

const one = new JsonNumber('1')
const two = new JsonNumber('2')

function list(attributes: [string, Value][]) {
  return attributes.map(([key, value]) => ({ key, value }))
}

test.each<[string, [string, Value][], unknown]>([
  [
    'dots make objects',
    [
      ['llm.model', 'a'],
      ['llm.x.y', one],
    ],
    { llm: { model: 'a', x: { y: 1 } } },
  ],
  ['a key without dots stays', [['a', true]], { a: true }],
  [
    'the later of equal keys counts',
    [
      ['a.b', one],
      ['a.b', two],
    ],
    { a: { b: 2 } },
  ],
  [
    'keys 0 to n-1 make an array',
    [
      ['m.1.r', 'b'],
      ['m.0.r', 'a'],
    ],
    { m: [{ r: 'a' }, { r: 'b' }] },
  ],
  [
    'a gap makes an object',
    [
      ['m.0', 'a'],
      ['m.2', 'b'],
    ],
    { m: { '0': 'a', '2': 'b' } },
  ],
  ['numbers at the top level are keys', [['0', 'a']], { '0': 'a' }],
  ['a JSON object is read', [['a', '{"b": {"c": [1, 2]}}']], { a: { b: { c: [1, 2] } } }],
  ['a JSON array is read', [['a', '[1, {"0": 2}]']], { a: [1, { '0': 2 }] }],
  [
    'an object of JSON may get keys',
    [
      ['a', '{"b": 1}'],
      ['a.c', two],
    ],
    { a: { b: 1, c: 2 } },
  ],
  [
    'also in the other order',
    [
      ['a.c', two],
      ['a', '{"b": 1, "c": 3}'],
    ],
    { a: { c: 3, b: 1 } },
  ],
  [
    'other texts stay unchanged',
    [
      ['a', '{nothing'],
      ['b', '12'],
      ['c', ' {}'],
    ],
    { a: '{nothing', b: '12', c: ' {}' },
  ],
  ['NUL within JSON is replaced', [['a', String.raw`{"b":"\u0000"}`]], { a: { b: '\uFFFD' } }],
  ['NaN within JSON is null', [['a', '[NaN]']], { a: [null] }],
  ['an empty object stays an empty object', [['a', '{"b":{}}']], { a: { b: {} } }],
  [
    'names of prototypes are keys',
    [
      ['__proto__.x', one],
      ['constructor', two],
    ],
    JSON.parse('{"__proto__":{"x":1},"constructor":2}'),
  ],
  [
    'empty parts are keys',
    [
      ['a..b', one],
      ['', two],
    ],
    { a: { '': { b: 1 } }, '': 2 },
  ],
])('%s', (_, attributes, expected) => {
  expect(JSON.parse(writeValue(nestAttributes(list(attributes))))).toEqual(expected)
})

test.each<[string, [string, Value][]]>([
  [
    'a value and then keys below it',
    [
      ['a', one],
      ['a.b', two],
    ],
  ],
  [
    'keys and then a value above them',
    [
      ['a.b', two],
      ['a', one],
    ],
  ],
  [
    'deeper down',
    [
      ['x.a.b', two],
      ['x.a', 'text'],
    ],
  ],
  [
    'keys below an array',
    [
      ['a', '[1]'],
      ['a.b', two],
    ],
  ],
])('rejects %s, or leaves keys as they are', (_, attributes) => {
  expect(() => nestAttributes(list(attributes))).toThrow(/^attribute '[\w.]+' conflicts with another/)
  expect(nestIfPossible(list(attributes), new ValueBudget())).toEqual(new Map(attributes))
})

test('objects of dotted keys count as values', () => {
  const key = (last: number) => `${Array.from({ length: 98 }, () => 'a').join('.')}.b${last}.c`
  const attributes = list(Array.from({ length: 10 }, (_, index) => [key(index), one]))
  // 98 objects that all keys share, and one for each key.
  expect(nestAttributes(attributes, new ValueBudget(108)).size).toBe(1)
  expect(() => nestAttributes(attributes, new ValueBudget(107))).toThrow(TooManyValues)
  expect(nestIfPossible(attributes, new ValueBudget(107)).size).toBe(10)
})

test('the error shows the beginning of a long key', () => {
  const key = 'k'.repeat(5_000)
  const conflict = list([
    [key, one],
    [`${key}.a`, two],
  ])
  expect(() => nestAttributes(conflict)).toThrow(`attribute '${'k'.repeat(200)}…' conflicts with another`)
})

test('keys that would nest too deeply stay unchanged', () => {
  const key = Array.from({ length: 200 }, () => 'a').join('.')
  const text = '['.repeat(400) + ']'.repeat(400)
  expect(
    nestAttributes(
      list([
        [key, one],
        ['deep', text],
      ]),
    ),
  ).toEqual(
    new Map<string, Value>([
      [key, one],
      ['deep', text],
    ]),
  )
})
