import { WireType } from '@bufbuild/protobuf/wire'
import { tooLarge } from '../refusals.ts'
import { OtelFault } from './fault.ts'
import { type Resource, resourceMessage, type Span, spanMessage } from './span.ts'
import { WireReader } from './wire-text.ts'

/** The spans of one resource. Nothing of a span is read before it is asked for, so that a bomb of them takes no memory. */
export interface SpanGroup {
  resource: Resource
  spans: Iterable<SpanSource>
}

/** A span that is still to be read. @throws {OtelFault} when it is not valid */
export type SpanSource = () => Span

// Of ExportTraceServiceRequest, ResourceSpans and ScopeSpans.
const resourceSpansField = 1
const resourceField = 1
const scopeSpansField = 2
const spansField = 2

// No exporter sends as many, and two bytes are enough for one.
export const mostSpans = 200_000

/**
 * The groups of a request in protobuf, which can be gone through more than once.
 *
 * @throws {OtelFault} while they are gone through, when the request is not valid
 */
export function* readWireSpans(bytes: Uint8Array): Iterable<SpanGroup> {
  for (const group of eachPart(bytes, resourceSpansField)) {
    let resource = resourceMessage.empty()
    for (const part of eachPart(group, resourceField)) resource = resourceMessage.readWire(new WireReader(part))
    yield { resource, spans: { [Symbol.iterator]: () => eachSpan(group) } }
  }
}

function* eachSpan(group: Uint8Array): Iterator<SpanSource> {
  for (const scope of eachPart(group, scopeSpansField)) {
    for (const span of eachPart(scope, spansField)) yield () => spanMessage.readWire(new WireReader(span))
  }
}

/** The bytes of each part of a message that stands under a number. */
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
    if (part && ++count > mostSpans) throw tooLarge()
    if (part) yield part
  }
}

function tryRead<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new OtelFault('not valid protobuf', { cause })
  }
}
