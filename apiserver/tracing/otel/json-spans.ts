import type { Source } from './read-span.ts'
import { resourceMessage } from './span.ts'
import type { Place, SplitRequest } from './split-json.ts'
import { readBounded, type SpanGroup } from './wire-spans.ts'

/**
 * Reads the span groups of a request in JSON.
 *
 * @throws {OtlpError} during the iteration, when a resource is not valid
 */
export function* readJsonSpans({ source, groups }: SplitRequest): Iterable<SpanGroup> {
  for (const { resource, spans } of groups) {
    yield {
      resource: resource ? readBounded(readPlace(source, resource)) : resourceMessage.empty(),
      spans: { [Symbol.iterator]: () => eachSpan(source, spans) },
    }
  }
}

function* eachSpan(source: Uint8Array, spans: Place[]): Iterator<Source> {
  for (const place of spans) yield readPlace(source, place)
}

function readPlace(source: Uint8Array, [start, end]: Place): Source {
  return { format: 'json', bytes: source.subarray(start, end) }
}
