import { WireType } from '@bufbuild/protobuf/wire'
import { JsonNumber, type Value } from '../../../lib/json/value.ts'
import { OtlpError } from './otlp-error.ts'
import type { WireReader } from './wire-text.ts'

/** An attribute of a span, an event, a link or a resource. */
export interface Attribute {
  key: string
  value: Value
}

// Other protobuf readers reject deeper values. Here they become null.
const maxDepth = 100

type WireKind = readonly [WireType, (reader: WireReader, depth: number) => Value]

// The message AnyValue of opentelemetry.proto.common.v1, by field number.
const wireKinds: Record<number, WireKind | undefined> = {
  1: [WireType.LengthDelimited, (reader) => reader.string()],
  2: [WireType.Varint, (reader) => reader.bool()],
  3: [WireType.Varint, (reader) => new JsonNumber(String(reader.int64()))],
  4: [WireType.Bit64, (reader) => toDouble(reader.double())],
  5: [WireType.LengthDelimited, (reader, depth) => readWireItems(reader.enter(), depth)],
  6: [WireType.LengthDelimited, (reader, depth) => toMap(readWireMembers(reader.enter(), depth))],
  7: [WireType.LengthDelimited, (reader) => Buffer.from(reader.bytes()).toString('base64')],
}

/** Reads an AnyValue from protobuf. Null if it is empty or nested too deeply. */
function readWireValue(reader: WireReader, depth: number): Value {
  reader.budget.spend()
  if (depth > maxDepth) return null
  let value: Value = null
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    const known = wireKinds[number]
    if (known?.[0] === type) value = known[1](reader, depth + 1)
    else reader.skip(type, number)
  }
  return value
}

/** Reads a KeyValue from protobuf. */
export function readWireAttribute(reader: WireReader, depth = 0): Attribute {
  reader.budget.spend()
  const attribute: Attribute = { key: '', value: null }
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    if (number === 1 && type === WireType.LengthDelimited) attribute.key = reader.string()
    else if (number === 2 && type === WireType.LengthDelimited) attribute.value = readWireValue(reader.enter(), depth)
    else reader.skip(type, number)
  }
  return attribute
}

/** Reads the items of an ArrayValue. */
function readWireItems(reader: WireReader, depth: number): Value[] {
  return readWireList(reader, (item) => readWireValue(item, depth))
}

/** Reads the members of a KeyValueList. */
function readWireMembers(reader: WireReader, depth: number): Attribute[] {
  return readWireList(reader, (item) => readWireAttribute(item, depth))
}

function readWireList<T>(reader: WireReader, read: (item: WireReader) => T): T[] {
  const items: T[] = []
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    if (number === 1 && type === WireType.LengthDelimited) items.push(read(reader.enter()))
    else reader.skip(type, number)
  }
  return items
}

/** Reads an AnyValue from JSON. */
export function readJsonValue(value: Value | undefined, depth = 0): Value {
  if (!(value instanceof Map) || depth > maxDepth) return null
  for (const [name, read] of jsonReaders) {
    const member = value.get(name)
    if (member !== undefined && member !== null) return read(member, depth + 1)
  }
  return null
}

/** Reads a KeyValue from JSON. */
export function readJsonAttribute(value: Value, depth = 0): Attribute {
  const key = value instanceof Map ? value.get('key') : undefined
  if (typeof key !== 'string' || !(value instanceof Map)) throw new OtlpError('an attribute has no key')
  return { key, value: readJsonValue(value.get('value'), depth) }
}

const jsonReaders: readonly [string, (value: Value, depth: number) => Value][] = [
  ['stringValue', (value) => value],
  ['boolValue', (value) => value],
  ['intValue', (value) => toJsonNumber(value)],
  ['doubleValue', (value) => toJsonNumber(value)],
  ['arrayValue', (value, depth) => readJsonList(value).map((item) => readJsonValue(item, depth))],
  ['kvlistValue', (value, depth) => toMap(readJsonList(value).map((item) => readJsonAttribute(item, depth)))],
  ['bytesValue', (value) => value],
]

function readJsonList(value: Value): Value[] {
  const values = value instanceof Map ? value.get('values') : undefined
  return Array.isArray(values) ? values : []
}

/**
 * OTLP writes 64-bit integers as strings, because JavaScript would lose digits. A string that is not a JSON number,
 * such as NaN, becomes null.
 */
function toJsonNumber(value: Value): Value {
  if (typeof value !== 'string') return value
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? new JsonNumber(value) : null
}

function toMap(attributes: Attribute[]): Map<string, Value> {
  return new Map(attributes.map(({ key, value }) => [key, value]))
}

/** A double keeps its decimal point, as in Python's JSON: 1.0 is not an integer. */
function toDouble(value: number): Value {
  if (!Number.isFinite(value)) return null
  const text = Object.is(value, -0) ? '-0' : String(value)
  return new JsonNumber(/^-?\d+$/.test(text) ? `${text}.0` : text)
}
