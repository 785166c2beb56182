import type { CallEnd, CallPart, CallStart } from '../calls/parts.ts'
import { JsonText } from '../../../lib/json/json-text.ts'

type Packed<T> = { [K in keyof T]: JsonText extends T[K] ? Uint8Array | Exclude<T[K], JsonText> : T[K] }

/** A call in a form that can be transferred between threads: bytes instead of texts. */
export interface PackedCall {
  id: string
  start?: Packed<CallStart>
  end?: Packed<CallEnd>
}

export function packCall({ id, start, end }: CallPart): PackedCall {
  return { id, ...(start && { start: packStart(start) }), ...(end && { end: packEnd(end) }) }
}

export function unpackCall({ id, start, end }: PackedCall): CallPart {
  return { id, ...(start && { start: unpackStart(start) }), ...(end && { end: unpackEnd(end) }) }
}

function packStart(start: CallStart): Packed<CallStart> {
  const { attributes, inputs, otelDump } = start
  return { ...start, attributes: attributes.bytes, inputs: inputs.bytes, otelDump: otelDump?.bytes }
}

function packEnd(end: CallEnd): Packed<CallEnd> {
  return { ...end, output: end.output?.bytes ?? null, summary: end.summary.bytes }
}

function unpackStart(start: Packed<CallStart>): CallStart {
  const { attributes, inputs, otelDump } = start
  return { ...start, attributes: read(attributes), inputs: read(inputs), otelDump: otelDump && read(otelDump) }
}

function unpackEnd(end: Packed<CallEnd>): CallEnd {
  return { ...end, output: end.output && read(end.output), summary: read(end.summary) }
}

function read(bytes: Uint8Array): JsonText {
  return new JsonText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
