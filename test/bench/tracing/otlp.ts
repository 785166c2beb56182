import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { createHash } from 'node:crypto'
import type { BenchCall } from './calls.ts'

const lengthDelimited = 2
const fixed64 = 1
const kindInternal = 1
const statusOk = 1
const statusError = 2

/**
 * Encodes an ExportTraceServiceRequest of these calls, with the attributes of OpenInference, which are Phoenix's own.
 */
export function encodeSpans(calls: readonly BenchCall[], service: string): Uint8Array {
  const spans = new BinaryWriter()
  for (const call of calls) spans.uint32(tag(2)).bytes(encodeSpan(call))
  const resource = new BinaryWriter().uint32(tag(1)).bytes(encodeAttribute('service.name', service))
  const resourceSpans = new BinaryWriter().uint32(tag(1)).bytes(resource.finish())
  resourceSpans.uint32(tag(2)).bytes(spans.finish())
  return new BinaryWriter().uint32(tag(1)).bytes(resourceSpans.finish()).finish()
}

const tag = (field: number, wire = lengthDelimited) => (field << 3) | wire

function encodeSpan(call: BenchCall): Uint8Array {
  const span = new BinaryWriter().uint32(tag(1)).bytes(Buffer.from(call.trace_id.replaceAll('-', ''), 'hex'))
  span.uint32(tag(2)).bytes(spanId(call.id))
  if (call.parent_id) span.uint32(tag(4)).bytes(spanId(call.parent_id))
  span.uint32(tag(5)).string(call.op_name.split('/').at(-1)!.split(':')[0]!)
  span.uint32(tag(6, 0)).int32(kindInternal)
  span.uint32(tag(7, fixed64)).fixed64(nanoseconds(call.started_at))
  span.uint32(tag(8, fixed64)).fixed64(nanoseconds(call.ended_at))
  for (const [key, value] of Object.entries(attributesOf(call))) span.uint32(tag(9)).bytes(encodeAttribute(key, value))
  return span.uint32(tag(15)).bytes(encodeStatus(call.exception)).finish()
}

function attributesOf(call: BenchCall): Record<string, string | number> {
  const [model, usage] = Object.entries(call.summary['usage'] as Record<string, Record<string, number>>)[0]!
  const { environment, customer } = call.attributes
  return {
    'openinference.span.kind': 'LLM',
    'llm.model_name': model,
    'input.value': JSON.stringify(call.inputs),
    'input.mime_type': 'application/json',
    'output.value': JSON.stringify(call.output),
    'output.mime_type': 'application/json',
    'llm.token_count.prompt': usage['prompt_tokens']!,
    'llm.token_count.completion': usage['completion_tokens']!,
    'llm.token_count.total': usage['total_tokens']!,
    environment: String(environment),
    customer: String(customer),
  }
}

function encodeAttribute(key: string, value: string | number): Uint8Array {
  const any = new BinaryWriter()
  if (typeof value === 'string') any.uint32(tag(1)).string(value)
  else any.uint32(tag(3, 0)).int64(value)
  return new BinaryWriter().uint32(tag(1)).string(key).uint32(tag(2)).bytes(any.finish()).finish()
}

function encodeStatus(exception: string | null): Uint8Array {
  const status = new BinaryWriter()
  if (exception) status.uint32(tag(2)).string(exception)
  return status
    .uint32(tag(3, 0))
    .int32(exception ? statusError : statusOk)
    .finish()
}

const nanoseconds = (iso: string) => BigInt(Date.parse(iso)) * 1_000_000n

/** A hash of the call's id. The end of the id has too few random bits to distinguish millions of calls. */
const spanId = (callId: string) => createHash('sha256').update(callId).digest().subarray(0, 8)
