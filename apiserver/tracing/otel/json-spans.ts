import { JsonError } from '../../json/text.ts'
import { readJson } from '../json/read.ts'
import type { JsonText } from '../json/text.ts'
import { parseValue, type Value, ValueBudget } from '../json/value.ts'
import { OtelFault } from './fault.ts'
import { resourceMessage, spanMessage } from './span.ts'
import type { SpanGroup, SpanSource } from './wire-spans.ts'

// Each is built by itself, as it is needed.
const texts = ['resourceSpans[].resource', 'resourceSpans[].scopeSpans[].spans[]']

interface Group {
  resource?: JsonText
  scopeSpans?: unknown
}

/** The groups of a request in OTLP's JSON form. @throws {OtelFault} when it is not valid */
export function readJsonSpans(bytes: Buffer): SpanGroup[] {
  const request = parse(bytes)
  return listOf(request, 'resourceSpans').map((group) => {
    const { resource, scopeSpans } = requireObject(group) as Group
    const spans = listOf({ scopeSpans }, 'scopeSpans').flatMap((scope) => listOf(scope, 'spans') as JsonText[])
    return { resource: readResource(resource), spans: { [Symbol.iterator]: () => eachSpan(spans) } }
  })
}

function* eachSpan(spans: JsonText[]): Iterator<SpanSource> {
  for (const span of spans) yield () => spanMessage.readJson(parseBounded(span))
}

function readResource(text: JsonText | undefined) {
  if (!text || text.first === 'n') return resourceMessage.empty()
  return resourceMessage.readJson(parseBounded(text))
}

function parseBounded(text: JsonText): Value {
  return orFault(() => parseValue(text.toString(), new ValueBudget()))
}

function parse(bytes: Buffer): unknown {
  return orFault(() => readJson(bytes, texts))
}

function orFault<T>(read: () => T): T {
  try {
    return read()
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
