import { tooLarge } from '../errors.ts'
import { WireType } from '@bufbuild/protobuf/wire'
import { OtlpError } from './otlp-error.ts'
import { readResource, type Source } from './read-span.ts'
import { type Resource, resourceMessage } from './span.ts'
import { WireReader } from './wire-text.ts'

/** The spans of one resource. Spans are read on demand, so that a request with very many takes no memory. */
export interface SpanGroup {
  resource: Resource
  spans: Iterable<Source>
}

// Field numbers of ExportTraceServiceRequest, ResourceSpans and ScopeSpans.
const resourceSpansField = 1
const resourceField = 1
const scopeSpansField = 2
const spansField = 2

// No exporter sends this many. In protobuf, two bytes are enough for a span.
export const maxSpans = 200_000
// A resource is parsed at once and copied into each of its spans. Exporters send some hundred bytes.
const maxResourceBytes = 64 * 1024

/**
 * Reads the span groups of a request in protobuf. The spans of a group can be iterated more than once.
 *
 * @throws {OtlpError} during the iteration, when the request is not valid
 */
export function* readWireSpans(bytes: Uint8Array): Iterable<SpanGroup> {
  for (const group of eachPart(bytes, resourceSpansField)) {
    let resource = resourceMessage.empty()
    for (const part of eachPart(group, resourceField)) resource = readBounded({ format: 'protobuf', bytes: part })
    yield { resource, spans: { [Symbol.iterator]: () => eachSpan(group) } }
  }
}

function* eachSpan(group: Uint8Array): Iterator<Source> {
  for (const scope of eachPart(group, scopeSpansField)) {
    for (const bytes of eachPart(scope, spansField)) yield { format: 'protobuf', bytes }
  }
}

/** @throws {HttpError} 413 for a resource that is too large, and OtlpError */
export function readBounded(source: Source): Resource {
  if (source.bytes.length > maxResourceBytes) throw tooLarge()
  return readResource(source)
}

/** The bytes of each field with a number. */
function* eachPart(message: Uint8Array, wanted: number): Iterable<Uint8Array> {
  const reader = new WireReader(message)
  const next = () => {
    const [number, type] = reader.tag()
    if (number === wanted && type === WireType.LengthDelimited) return reader.bytes()
    reader.skip(type, number)
    return undefined
  }
  for (let count = 0; reader.pos < reader.len;) {
    const part = tryRead(next)
    if (part && ++count > maxSpans) throw tooLarge()
    if (part) yield part
  }
}

function tryRead<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new OtlpError('not valid protobuf', { cause })
  }
}
