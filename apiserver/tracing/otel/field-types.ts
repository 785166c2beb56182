import { WireType } from '@bufbuild/protobuf/wire'
import { JsonNumber, type Value } from '../../../lib/json/value.ts'
import { type Attribute, readJsonAttribute, readWireAttribute } from './any-value.ts'
import { OtlpError } from './otlp-error.ts'
import type { WireReader } from './wire-text.ts'

/** How a field's value is written in protobuf and in JSON. */
export interface FieldType<V> {
  wireType: WireType
  /** The value of an absent field. */
  empty: () => V
  /** `before` is the value so far, because a repeated field appends to it. */
  readWire: (reader: WireReader, before: V) => V
  readJson: (value: Value) => V
}

const maxIdBytes = 64
const maxNameLength = 4_096
// In protobuf, two bytes are enough for an item.
const maxItems = 100_000

export const text: FieldType<string> = {
  wireType: WireType.LengthDelimited,
  empty: () => '',
  readWire: (reader) => reader.string(),
  readJson: (value) => requireText(value),
}

/** A name. Only its first 4,096 characters are kept. */
export const shortText: FieldType<string> = {
  ...text,
  readWire: (reader) => truncateName(reader.string()),
  readJson: (value) => truncateName(requireText(value)),
}

/** The id of a trace or a span: bytes as hexadecimal digits. An id of zeros means none, and becomes the empty text. */
export const id: FieldType<string> = {
  wireType: WireType.LengthDelimited,
  empty: () => '',
  readWire: (reader) => toId(Buffer.from(reader.bytes()).toString('hex')),
  readJson: (value) => toId(requireText(value).toLowerCase()),
}

/** Nanoseconds since 1970. */
export const nanos: FieldType<bigint> = {
  wireType: WireType.Bit64,
  empty: () => 0n,
  readWire: (reader) => BigInt(reader.fixed64()),
  readJson: (value) => BigInt(requireDigits(value)),
}

export const count: FieldType<number> = {
  wireType: WireType.Varint,
  empty: () => 0,
  readWire: (reader) => reader.uint32(),
  readJson: (value) => Number(requireDigits(value)),
}

/** Bits in four bytes. */
export const flags: FieldType<number> = { ...count, wireType: WireType.Bit32, readWire: (reader) => reader.fixed32() }

export const attributes: FieldType<Attribute[]> = {
  wireType: WireType.LengthDelimited,
  empty: () => [],
  readWire: (reader, before) => append(before, () => readWireAttribute(reader.enter())),
  readJson: (value) => requireList(value).map((item) => readJsonAttribute(item)),
}

/**
 * An enum. JSON has the name or the number. The prefix that all names share is removed. An unknown number becomes its
 * digits.
 */
export function name(prefix: string, names: readonly string[]): FieldType<string> {
  const find = (number: number) => names[number] ?? String(number)
  const findName = (long: string) => (long.startsWith(prefix) ? long.slice(prefix.length) : long)
  return {
    wireType: WireType.Varint,
    empty: () => find(0),
    readWire: (reader) => find(reader.int32()),
    readJson: (value) => (typeof value === 'string' ? findName(value) : find(Number(requireDigits(value)))),
  }
}

/** @throws {OtlpError} when the list becomes longer than any exporter sends */
export function append<T>(list: T[], read: () => T): T[] {
  if (list.length === maxItems) throw new OtlpError('a list is too long')
  list.push(read())
  return list
}

/** Truncates a name that is too long to be read. */
export function truncateName(long: string): string {
  return long.length > maxNameLength ? long.slice(0, maxNameLength).toWellFormed() : long
}

export function requireList(value: Value): Value[] {
  if (Array.isArray(value)) return value
  throw new OtlpError('a field that must be a list is not a list')
}

function requireText(value: Value): string {
  if (typeof value === 'string') return value
  throw new OtlpError('a field that must be a string is not a string')
}

/** Reads a non-negative integer that is a JSON number or a string. */
function requireDigits(value: Value): string {
  const digits = value instanceof JsonNumber ? value.text : value
  if (typeof digits === 'string' && /^\d{1,20}$/.test(digits)) return digits
  throw new OtlpError('a field that must be an integer is not an integer')
}

function toId(hex: string): string {
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new OtlpError('an id is not hexadecimal')
  if (hex.length > 2 * maxIdBytes) throw new OtlpError('an id is too long')
  return /^0*$/.test(hex) ? '' : hex
}
