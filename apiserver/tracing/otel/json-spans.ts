import { JsonError } from '../../json/text.ts'
import { readJson } from '../json/read.ts'
import type { JsonText } from '../json/text.ts'
import { OtelFault } from './fault.ts'
import type { Source } from './read-span.ts'
import { resourceMessage } from './span.ts'
import { readBounded, type SpanGroup } from './wire-spans.ts'

// Each is built by itself, as it is needed.
const texts = ['resourceSpans[].resource', 'resourceSpans[].scopeSpans[].spans[]']

interface Group {
  resource?: JsonText
  scopeSpans?: unknown
}

/**
 * The groups of a request in OTLP's JSON form, which can be gone through more than once.
 *
 * @throws {OtelFault} when it is not valid, at once or while they are gone through
 */
export function readJsonSpans(bytes: Buffer): () => Iterable<SpanGroup> {
  const groups = listOf(parse(bytes), 'resourceSpans')
  return () => eachGroup(groups)
}

function* eachGroup(groups: unknown[]): Iterable<SpanGroup> {
  for (const group of groups) {
    const { resource, scopeSpans } = requireObject(group) as Group
    const spans = listOf({ scopeSpans }, 'scopeSpans').flatMap((scope) => listOf(scope, 'spans') as JsonText[])
    yield { resource: readResource(resource), spans: { [Symbol.iterator]: () => eachSpan(spans) } }
  }
}

function* eachSpan(spans: JsonText[]): Iterator<Source> {
  for (const { bytes } of spans) yield { format: 'json', bytes }
}

function readResource(text: JsonText | undefined) {
  if (!text || text.first === 'n') return resourceMessage.empty()
  return readBounded({ format: 'json', bytes: text.bytes })
}

function parse(bytes: Buffer): unknown {
  try {
    return readJson(bytes, texts)
  } catch (cause) {
    throw cause instanceof JsonError ? new OtelFault(cause.message, { cause }) : cause
  }
}

function listOf(value: unknown, key: string): unknown[] {
  const list = requireObject(value)[key] ?? []
  if (Array.isArray(list)) return list
  throw new OtelFault(`${key} is no list`)
}

function requireObject(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new OtelFault('an object is something else')
}
