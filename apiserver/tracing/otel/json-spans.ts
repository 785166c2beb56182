import type { Source } from './read-span.ts'
import { resourceMessage } from './span.ts'
import type { ByteRange, SplitRequest } from './split-json.ts'
import { readBounded, type SpanGroup } from './wire-spans.ts'

/**
 * Reads the span groups of a request in JSON.
 *
 * @throws {OtlpError} during the iteration, when a resource is not valid
 */
export function* readJsonSpans({ source, groups }: SplitRequest): Iterable<SpanGroup> {
  for (const { resource, spans } of groups) {
    yield {
      resource: resource ? readBounded(readRange(source, resource)) : resourceMessage.empty(),
      spans: { [Symbol.iterator]: () => eachSpan(source, spans) },
    }
  }
}

function* eachSpan(source: Uint8Array, spans: ByteRange[]): Iterator<Source> {
  for (const range of spans) yield readRange(source, range)
}

function readRange(source: Uint8Array, [start, end]: ByteRange): Source {
  return { format: 'json', bytes: source.subarray(start, end) }
}
