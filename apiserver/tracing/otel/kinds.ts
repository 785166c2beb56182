import { WireType } from '@bufbuild/protobuf/wire'
import { JsonNumber, type Value } from '../../../lib/json/value.ts'
import { type Attribute, readJsonAttribute, readWireAttribute } from './any-value.ts'
import { OtlpError } from './otlp-error.ts'
import type { WireReader } from './wire-text.ts'

/** How the value of a field stands in protobuf, and in OTLP's JSON form. */
export interface Kind<V> {
  wireType: WireType
  /** Of a field that is absent. */
  empty: () => V
  /** `before` is what the field has had so far: repeated ones grow. */
  readWire: (reader: WireReader, before: V) => V
  readJson: (value: Value) => V
}

const maxIdBytes = 64
const maxNameLength = 4_096
// Two bytes are enough for one of them.
const maxItems = 100_000

export const text: Kind<string> = {
  wireType: WireType.LengthDelimited,
  empty: () => '',
  readWire: (reader) => reader.string(),
  readJson: (value) => requireText(value),
}

/** A name, of which some kilobytes are kept. */
export const shortText: Kind<string> = {
  ...text,
  readWire: (reader) => cutName(reader.string()),
  readJson: (value) => cutName(requireText(value)),
}

/** Of a trace or a span: bytes, in hexadecimal digits. Nothing but zeros stands for none, which is the empty text. */
export const id: Kind<string> = {
  wireType: WireType.LengthDelimited,
  empty: () => '',
  readWire: (reader) => toId(Buffer.from(reader.bytes()).toString('hex')),
  readJson: (value) => toId(requireText(value).toLowerCase()),
}

/** Nanoseconds since 1970. */
export const nanos: Kind<bigint> = {
  wireType: WireType.Bit64,
  empty: () => 0n,
  readWire: (reader) => BigInt(reader.fixed64()),
  readJson: (value) => BigInt(requireDigits(value)),
}

export const count: Kind<number> = {
  wireType: WireType.Varint,
  empty: () => 0,
  readWire: (reader) => reader.uint32(),
  readJson: (value) => Number(requireDigits(value)),
}

/** Bits, in four bytes. */
export const flags: Kind<number> = { ...count, wireType: WireType.Bit32, readWire: (reader) => reader.fixed32() }

export const attributes: Kind<Attribute[]> = {
  wireType: WireType.LengthDelimited,
  empty: () => [],
  readWire: (reader, before) => append(before, () => readWireAttribute(reader.enter())),
  readJson: (value) => requireList(value).map((item) => readJsonAttribute(item)),
}

/** A number with a name; JSON has either. Without the prefix that its names share; an unknown one is its digits. */
export function name(prefix: string, names: readonly string[]): Kind<string> {
  const find = (number: number) => names[number] ?? String(number)
  const findName = (long: string) => (long.startsWith(prefix) ? long.slice(prefix.length) : long)
  return {
    wireType: WireType.Varint,
    empty: () => find(0),
    readWire: (reader) => find(reader.int32()),
    readJson: (value) => (typeof value === 'string' ? findName(value) : find(Number(requireDigits(value)))),
  }
}

/** @throws {OtlpError} when a list grows beyond what anybody sends */
export function append<T>(list: T[], read: () => T): T[] {
  if (list.length === maxItems) throw new OtlpError('a list is too long')
  list.push(read())
  return list
}

/** The beginning of a name that is too long for anybody to read. */
export function cutName(long: string): string {
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

/** Digits of a whole number that is not negative, as a JSON number or a text. */
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
