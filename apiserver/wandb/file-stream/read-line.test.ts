import { describe, expect, test } from 'vitest'
import { cleanJsonText } from '../json-text.ts'
import { readHistoryLine } from './read-line.ts'

describe('a JSON text', () => {
  test.each([
    ['{"a":1.50,"b":"x"}', '{"a":1.50,"b":"x"}'],
    ['{"a":NaN,"b":[Infinity,-Infinity]}', '{"a":"NaN","b":["Infinity","-Infinity"]}'],
    [String.raw`{"NaN":"a \" NaN","b":NaN}`, String.raw`{"NaN":"a \" NaN","b":"NaN"}`],
    [String.raw`{"a":"\u0000"}`, String.raw`{"a":"\ufffd"}`],
  ])('%s is stored as %s', (given, stored) => {
    expect(cleanJsonText(given)).toBe(stored)
  })

  test('may be long, with NaN in it', () => {
    const long = 'x'.repeat(32 * 1024 * 1024)
    expect(cleanJsonText(`{"a":"${long} NaN","b":NaN}`) === `{"a":"${long} NaN","b":"NaN"}`).toBe(true)
    const many = (word: string) => `[${Array(1_000_000).fill(word).join(',')}]`
    expect(cleanJsonText(many('NaN')) === many('"NaN"')).toBe(true)
  })
})

describe('a line of history', () => {
  test('has its step and its keys', () => {
    const { text, step, keySet } = readHistoryLine('{"loss":0.5,"_step":7}', 3)
    expect({ text, step, keys: keySet?.keys }).toEqual({
      text: '{"loss":0.5,"_step":7}',
      step: 7,
      keys: { _step: 'number', loss: 'number' },
    })
  })

  test.each(['{"loss":1}', '{"_step":"4"}', '{"_step":1e300}'])(
    'without a step has the number of the line: %s',
    (text) => {
      expect(readHistoryLine(text, 3)).toMatchObject({ text, step: 3 })
    },
  )

  test.each(['', 'text', '[1]', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`])(
    'that is no usable object is empty: %s',
    (text) => {
      expect(readHistoryLine(text, 3)).toEqual({ text: '{}', step: 3 })
    },
  )
})

test('a line with keys that are long with the names around them has no set', () => {
  const inner = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key${index}`, 1]))
  expect(readHistoryLine(JSON.stringify({ ['a'.repeat(1_000)]: inner }), 3)).not.toHaveProperty('keySet')
})
