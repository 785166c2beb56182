import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** An attribute's value in OTLP's JSON format. */
export type OtlpValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: OtlpValue[] } }
  | { kvlistValue: { values: OtlpAttribute[] } }
  | { bytesValue: string }
  | Record<string, never>

export interface OtlpAttribute {
  key: string
  value: OtlpValue
}

/** A span in OTLP's JSON format. */
export interface OtlpSpan {
  traceId?: string
  spanId?: string
  traceState?: string
  parentSpanId?: string
  name?: string
  kind?: number
  startTimeUnixNano?: string
  endTimeUnixNano?: string
  attributes?: OtlpAttribute[]
  events?: { timeUnixNano: string; name: string; attributes: OtlpAttribute[] }[]
  links?: { traceId: string; spanId: string; attributes: OtlpAttribute[] }[]
  status?: { code: number; message?: string }
}

/** An ExportTraceServiceRequest in OTLP's JSON format. */
export interface OtlpRequest {
  resourceSpans: { resource?: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}

type Encode = (writer: BinaryWriter, value: never) => unknown
type Fields = Record<string, [number: number, type: WireType, encode: Encode]>

const { Varint, Bit64, LengthDelimited } = WireType

const text: Encode = (writer, value: string) => writer.string(value)
const hex: Encode = (writer, value: string) => writer.bytes(Buffer.from(value, 'hex'))
const base64: Encode = (writer, value: string) => writer.bytes(Buffer.from(value, 'base64'))
const nanos: Encode = (writer, value: string) => writer.fixed64(value)
const integer: Encode = (writer, value: string | number) => writer.int64(value)
const double: Encode = (writer, value: number | string) => writer.double(Number(value))
const bool: Encode = (writer, value: boolean) => writer.bool(value)
const message =
  (fields: () => Fields): Encode =>
  (writer, value: object) =>
    encodeInto(writer.fork(), fields(), value).join()

const attribute: Fields = {
  key: [1, LengthDelimited, text],
  value: [2, LengthDelimited, message(() => anyValue)],
}
const anyValue: Fields = {
  stringValue: [1, LengthDelimited, text],
  boolValue: [2, Varint, bool],
  intValue: [3, Varint, integer],
  doubleValue: [4, Bit64, double],
  arrayValue: [5, LengthDelimited, message(() => ({ values: [1, LengthDelimited, message(() => anyValue)] }))],
  kvlistValue: [6, LengthDelimited, message(() => ({ values: [1, LengthDelimited, message(() => attribute)] }))],
  bytesValue: [7, LengthDelimited, base64],
}
const resource: Fields = { attributes: [1, LengthDelimited, message(() => attribute)] }
const event: Fields = {
  timeUnixNano: [1, Bit64, nanos],
  name: [2, LengthDelimited, text],
  attributes: [3, LengthDelimited, message(() => attribute)],
}
const link: Fields = {
  traceId: [1, LengthDelimited, hex],
  spanId: [2, LengthDelimited, hex],
  attributes: [4, LengthDelimited, message(() => attribute)],
}
const status: Fields = { message: [2, LengthDelimited, text], code: [3, Varint, integer] }
const span: Fields = {
  traceId: [1, LengthDelimited, hex],
  spanId: [2, LengthDelimited, hex],
  traceState: [3, LengthDelimited, text],
  parentSpanId: [4, LengthDelimited, hex],
  name: [5, LengthDelimited, text],
  kind: [6, Varint, integer],
  startTimeUnixNano: [7, Bit64, nanos],
  endTimeUnixNano: [8, Bit64, nanos],
  attributes: [9, LengthDelimited, message(() => attribute)],
  events: [11, LengthDelimited, message(() => event)],
  links: [13, LengthDelimited, message(() => link)],
  status: [15, LengthDelimited, message(() => status)],
}
const scopeSpans: Fields = { spans: [2, LengthDelimited, message(() => span)] }
const resourceSpans: Fields = {
  resource: [1, LengthDelimited, message(() => resource)],
  scopeSpans: [2, LengthDelimited, message(() => scopeSpans)],
}
const request: Fields = { resourceSpans: [1, LengthDelimited, message(() => resourceSpans)] }

/** Encodes a request from its JSON format to protobuf. */
export function encodeOtlp(value: OtlpRequest): Buffer {
  return Buffer.from(encodeInto(new BinaryWriter(), request, value).finish())
}

/** Encodes one span to protobuf. */
export function encodeSpan(value: OtlpSpan): Buffer {
  return Buffer.from(encodeInto(new BinaryWriter(), span, value).finish())
}

function encodeInto(writer: BinaryWriter, fields: Fields, value: object): BinaryWriter {
  for (const [key, member] of Object.entries(value)) {
    const [number, type, encode] = fields[key]!
    for (const item of Array.isArray(member) ? member : [member]) encode(writer.tag(number, type), item as never)
  }
  return writer
}

/** Makes attributes from plain values: strings, booleans, integers as bigint, other numbers as doubles. */
export function toAttributes(values: Record<string, string | boolean | bigint | number>): OtlpAttribute[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: toValue(value) }))
}

function toValue(value: string | boolean | bigint | number): OtlpValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return typeof value === 'bigint' ? { intValue: String(value) } : { doubleValue: value }
}
