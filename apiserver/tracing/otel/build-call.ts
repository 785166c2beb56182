import type { CallPart } from '../calls/parts.ts'
import { truncate } from '../truncate.ts'
import { TooManyValues } from '../../../lib/json/value.ts'
import { OtlpError } from './otlp-error.ts'
import { measurePart } from '../calls/parts.ts'
import { readSpan, type Source } from './read-span.ts'
import { createCall, type CallContext } from './span-call.ts'
import type { Span } from './span.ts'

// The text of a span occurs in its call up to three times, and escapes make it up to six times as long.
const maxCallBytes = 96 * 1024 * 1024

/** The input for building a call. */
export interface SpanTask {
  span: Source
  context: CallContext
}

/** The call of a span, or the reason for its rejection. */
export type BuiltCall = { call: CallPart } | { rejected: string }

/** Builds the call of a span. It takes time in proportion to the span's size. */
export function buildCall({ span: source, context }: SpanTask): BuiltCall {
  let span: Span | undefined
  try {
    span = readSpan(source)
    const call = createCall(span, context)
    if (measurePart(call) > maxCallBytes) throw new OtlpError(`its call would have more than ${maxCallBytes} bytes`)
    return { call }
  } catch (error) {
    if (!(error instanceof OtlpError || error instanceof TooManyValues)) throw error
    return { rejected: `${describe(span)}: ${error.message}` }
  }
}

function describe(span: Span | undefined): string {
  if (!span) return 'Rejected a span'
  return `Rejected span (name='${truncate(span.name)}' trace_id='${span.traceId}' span_id='${span.spanId}')`
}
