import { expect, test } from 'vitest'
import { encodeSpan, type OtlpSpan } from '../../../test/support/otlp.ts'
import { JsonNumber, parseValue } from '../../../lib/json/value.ts'
import { spanMessage, type Span } from './span.ts'
import { WireReader } from './wire-text.ts'

const span: OtlpSpan = {
  traceId: '5b8aa5a2d2c872e8321cf37308d69df2',
  spanId: '051581bf3cb55c13',
  traceState: 'a=b',
  parentSpanId: '5fb397be34d26b51',
  name: 'chat',
  kind: 3,
  startTimeUnixNano: '1769860800123456789',
  endTimeUnixNano: '18446744073709551615',
  attributes: [
    { key: 'text', value: { stringValue: 'ö' } },
    { key: 'true', value: { boolValue: true } },
    { key: 'large', value: { intValue: '-9223372036854775808' } },
    { key: 'double', value: { doubleValue: 0.1 } },
    { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, {}] } } },
    { key: 'object', value: { kvlistValue: { values: [{ key: 'a.b', value: { intValue: '1' } }] } } },
    { key: 'bytes', value: { bytesValue: 'AAH/' } },
    { key: 'nothing', value: {} },
  ],
  events: [{ timeUnixNano: '1', name: 'exception', attributes: [{ key: 'x', value: { stringValue: 'y' } }] }],
  links: [{ traceId: '01'.repeat(16), spanId: '02'.repeat(8), attributes: [] }],
  status: { code: 2, message: 'failed' },
}

const expected: Span = {
  traceId: '5b8aa5a2d2c872e8321cf37308d69df2',
  spanId: '051581bf3cb55c13',
  traceState: 'a=b',
  parentSpanId: '5fb397be34d26b51',
  name: 'chat',
  kind: 'CLIENT',
  startTimeUnixNano: 1769860800123456789n,
  endTimeUnixNano: 18446744073709551615n,
  attributes: [
    { key: 'text', value: 'ö' },
    { key: 'true', value: true },
    { key: 'large', value: new JsonNumber('-9223372036854775808') },
    { key: 'double', value: new JsonNumber('0.1') },
    { key: 'list', value: ['a', null] },
    { key: 'object', value: new Map([['a.b', new JsonNumber('1')]]) },
    { key: 'bytes', value: 'AAH/' },
    { key: 'nothing', value: null },
  ],
  events: [{ timeUnixNano: 1n, name: 'exception', attributes: [{ key: 'x', value: 'y' }], droppedAttributesCount: 0 }],
  links: [
    {
      traceId: '01'.repeat(16),
      spanId: '02'.repeat(8),
      traceState: '',
      attributes: [],
      droppedAttributesCount: 0,
      flags: 0,
    },
  ],
  status: { code: 'ERROR', message: 'failed' },
}

const readBytes = (bytes: Uint8Array) => spanMessage.readWire(new WireReader(bytes))
const readWire = (value: OtlpSpan) => readBytes(encodeSpan(value))
const readJson = (value: unknown) => spanMessage.readJson(parseValue(JSON.stringify(value)))

test('a span has the same values in both forms', () => {
  expect(readWire(span)).toEqual(expected)
  expect(readJson(span)).toEqual(expected)
})

test('unknown fields are left out', () => {
  const unknown = Buffer.from([0xa2, 0x06, 0x01, 0x00, 0xa8, 0x06, 0x07, 0xb3, 0x06, 0x08, 0x01, 0xb4, 0x06])
  expect(readBytes(Buffer.concat([unknown, encodeSpan(span), unknown]))).toEqual(expected)
  expect(readJson({ ...span, unknown: [{}] })).toEqual(expected)
})

const double = (doubleValue: number) =>
  readWire({ attributes: [{ key: 'a', value: { doubleValue } }] }).attributes[0]!.value

test.each<[number, string | undefined]>([
  [1, '1.0'],
  [-0, '-0.0'],
  [1e21, '1e+21'],
  [0.000_000_1, '1e-7'],
  [Number.NaN, undefined],
  [Number.NEGATIVE_INFINITY, undefined],
])('the double %d is %s', (number, text) => {
  expect(double(number)).toEqual(text === undefined ? null : new JsonNumber(text))
})

test.each<[string, unknown]>([
  ['digits in a text', '12'],
  ['a number', 12],
])('an integer of JSON may be %s', (_, intValue) => {
  const { attributes } = readJson({ attributes: [{ key: 'a', value: { intValue } }] })
  expect(attributes).toEqual([{ key: 'a', value: new JsonNumber('12') }])
})

test('a JSON form may name its enumerations, and write ids in capitals', () => {
  const read = readJson({ spanId: 'ABCDEF0123456789', kind: 'SPAN_KIND_SERVER', status: { code: 'STATUS_CODE_OK' } })
  expect(read).toEqual({
    ...spanMessage.empty(),
    spanId: 'abcdef0123456789',
    kind: 'SERVER',
    status: { code: 'OK', message: '' },
  })
})

test('NUL and bytes that are not UTF-8 are replaced', () => {
  const bytes = Buffer.concat([Buffer.from([0x2a, 4]), Buffer.from('a\0'), Buffer.from([0xff, 0x62])])
  expect(readBytes(bytes).name).toBe('a\uFFFD\uFFFDb')
})

test('ids of zeros count as missing', () => {
  expect(readWire({ parentSpanId: '00'.repeat(8) }).parentSpanId).toBe('')
})

test('values that are nested too deeply are null', () => {
  let value: NonNullable<OtlpSpan['attributes']>[0]['value'] = { stringValue: 'deep' }
  for (let depth = 0; depth < 400; depth++) value = { arrayValue: { values: [value] } }
  const attributes = [{ key: 'a', value }]
  const nested = `${'['.repeat(101)}null${']'.repeat(101)}`
  expect(JSON.stringify(readWire({ attributes }).attributes[0]!.value)).toBe(nested)
})

/** Two lists with 600,000 nulls in all. */
function manyValues(): Uint8Array {
  const values = Array.from({ length: 600_000 }, () => ({}))
  const attributes = ['a', 'b'].map((key) => ({ key, value: { arrayValue: { values } } }))
  return encodeSpan({ attributes })
}

test.each<[string, () => Span]>([
  ['a length beyond the end', () => readBytes(Buffer.from([0x2a, 100, 1]))],
  ['a field without a number', () => readBytes(Buffer.from([0x00]))],
  ['groups without an end', () => readBytes(Buffer.alloc(1_000, 0x0b))],
  ['a broken attribute', () => readBytes(Buffer.from([0x4a, 2, 0x0a, 100]))],
  ['more values than fit into memory', () => readBytes(manyValues())],
  ['an id that is too long', () => readWire({ spanId: '01'.repeat(65) })],
  ['an id that is not hexadecimal', () => readJson({ spanId: 'BRWBvzy1XBM=' })],
  ['a time that is not a number', () => readJson({ startTimeUnixNano: 'now' })],
  ['an attribute without a key', () => readJson({ attributes: [{ value: {} }] })],
  ['attributes that are not a list', () => readJson({ attributes: {} })],
  ['a name that is not a text', () => readJson({ name: 5 })],
  ['a list instead of a span', () => readJson([])],
])('rejects %s', (_, read) => {
  expect(read).toThrow(expect.objectContaining({ name: 'OtlpError' }) as Error)
})
