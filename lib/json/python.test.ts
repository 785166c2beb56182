import { describe, expect, test } from 'vitest'
import { toPythonJson } from './python.ts'
import { parseValue } from './value.ts'

// Written by Python 3.11. test/api/tracing-digests.test.ts compares with the installed Python.
describe('the text that Python writes', () => {
  test.each([
    ['integers of any size', '[1, -0, 123456789012345678901234567890]', '[1, 0, 123456789012345678901234567890]'],
    ['floats with their point', '[1.0, -0.0, 1E5, 100.50, 1e2]', '[1.0, -0.0, 100000.0, 100.5, 100.0]'],
    ['small floats', '[0.0001, 0.00001, 1e-07, 5e-324, 1.5e-10]', '[0.0001, 1e-05, 1e-07, 5e-324, 1.5e-10]'],
    [
      'large floats',
      '[1e15, 1e16, 1.0e22, 1.7976931348623157e308]',
      '[1000000000000000.0, 1e+16, 1e+22, 1.7976931348623157e+308]',
    ],
    ['NaN and infinities', '[1e400, -1e400, 1e-400]', '[Infinity, -Infinity, 0.0]'],
    [
      'numbers with too many digits',
      '[0.1000000000000000055511151231257827, 9007199254740993.0]',
      '[0.1, 9007199254740992.0]',
    ],
    [
      'control characters, DEL and all characters beyond ASCII',
      '["\\u0001\\u007f\\u00e9\\ud83d\\ude00\\u2028/\\b\\f\\n\\r\\t\\"\\\\"]',
      '["\\u0001\\u007f\\u00e9\\ud83d\\ude00\\u2028/\\b\\f\\n\\r\\t\\"\\\\"]',
    ],
    [
      'keys by code point',
      '{"\\ud83d\\ude00":1,"\\uffff":2,"b":3,"B":4,"10":5,"9":6,"":7}',
      '{"": 7, "10": 5, "9": 6, "B": 4, "b": 3, "\\uffff": 2, "\\ud83d\\ude00": 1}',
    ],
    [
      'nested keys too',
      '{"b":{"d":[],"c":{}},"a":[true,false,null]}',
      '{"a": [true, false, null], "b": {"c": {}, "d": []}}',
    ],
  ])('%s', (_, text, expected) => {
    expect(toPythonJson(parseValue(text))).toBe(expected)
  })
})
