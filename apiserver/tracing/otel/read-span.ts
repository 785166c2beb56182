import { JsonError } from '../../../lib/json/parse.ts'
import { parseValue, type Value } from '../../../lib/json/value.ts'
import type { OtlpFormat } from './body.ts'
import { OtlpError } from './otlp-error.ts'
import { createSpanBudget, type Resource, resourceMessage, type Span, spanMessage } from './span.ts'
import { WireReader } from './wire-text.ts'

/** A part of a request that is not parsed yet. */
export interface Source {
  format: OtlpFormat
  bytes: Uint8Array
}

/** @throws {OtlpError} for an invalid span, or one with too many values */
export function readSpan({ format, bytes }: Source): Span {
  if (format === 'protobuf') return spanMessage.readWire(new WireReader(bytes, createSpanBudget()))
  return spanMessage.readJson(parseBounded(bytes))
}

/** @throws {OtlpError} for an invalid resource, or one with too many values */
export function readResource({ format, bytes }: Source): Resource {
  if (format === 'protobuf') return resourceMessage.readWire(new WireReader(bytes, createSpanBudget()))
  return resourceMessage.readJson(parseBounded(bytes))
}

function parseBounded(bytes: Uint8Array): Value {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  try {
    return parseValue(text, createSpanBudget())
  } catch (cause) {
    throw cause instanceof JsonError ? new OtlpError(cause.message, { cause }) : cause
  }
}
