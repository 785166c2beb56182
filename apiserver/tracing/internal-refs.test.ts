import { expect, test } from 'vitest'
import { parseValue } from '../../lib/json/value.ts'
import { toPythonJson } from '../../lib/json/python.ts'
import { toInternalRefs } from './internal-refs.ts'

const numbers = new Map([
  ['e/p', 7],
  ['e/q r', 8],
])

test.each<[string, string, string]>([
  ['a reference', '"weave:///e/p/object/o:d"', '"weave-trace-internal:///7/object/o:d"'],
  ['a path', '"weave:///e/p/object/o:d/attr/a"', '"weave-trace-internal:///7/object/o:d/attr/a"'],
  ['of another project', '["weave:///e/q r/table/d"]', '["weave-trace-internal:///8/table/d"]'],
  ['deep', '{"a": [{"b": "weave:///e/p/op/o:d"}]}', '{"a": [{"b": "weave-trace-internal:///7/op/o:d"}]}'],
  [
    'in JSON within a text',
    String.raw`{"a": "{\"z\":\"weave:///e/p/x\",\"a\":1.0}"}`,
    String.raw`{"a": "{\"z\": \"weave-trace-internal:///7/x\", \"a\": 1.0}"}`,
  ],
])('%s gets its internal form', (_, before, after) => {
  expect(toPythonJson(toInternalRefs(parseValue(before), numbers))).toBe(after)
})

test.each<[string, string]>([
  ['a key', '{"weave:///e/p/object/o:d": 1}'],
  ['an unknown project', '"weave:///e/x/object/o:d"'],
  ['a text without a kind', '"weave:///e/p"'],
  ['a text that contains one', '"see weave:///e/p/object/o:d"'],
  ['JSON within a text without references', String.raw`"{\"a\":1}"`],
  ['JSON within a text that names an unknown project', String.raw`"{\"a\":\"weave:///e/x/object/o:d\"}"`],
  ['an internal reference', '"weave-trace-internal:///9/object/o:d"'],
])('%s stays', (_, text) => {
  const value = parseValue(text)
  expect(toInternalRefs(value, numbers)).toBe(value)
})

test('JSON within texts is followed eight texts deep', () => {
  const wrap = (times: number): string => (times === 0 ? 'weave:///e/p/object/o:d' : JSON.stringify([wrap(times - 1)]))
  expect(toInternalRefs(wrap(8), numbers)).not.toBe(wrap(8))
  expect(toInternalRefs(wrap(9), numbers)).toBe(wrap(9))
})
