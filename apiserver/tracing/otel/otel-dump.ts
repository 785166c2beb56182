import { JsonNumber, type Value, writeValue } from '../json/value.ts'
import { type Members, nestAttributes, nestIfPossible } from './nest.ts'
import type { Resource, Span, SpanEvent, SpanLink } from './span.ts'
import { toInstant } from './time.ts'

/** The JSON text of a resource, as it stands in the dumps of all its spans. */
export function writeResource(resource: Resource): string {
  const { attributes, droppedAttributesCount } = resource
  return writeValue(
    new Map<string, Value>([
      ['attributes', nestIfPossible(attributes)],
      ['dropped_attributes_count', number(droppedAttributesCount)],
    ]),
  )
}

/** The JSON text of a whole span, as a call shows it in its attributes as `otel_span`. */
export function dumpSpan(span: Span, attributes: Members, resource: string): string {
  const dump = new Map<string, Value>([
    ['name', span.name],
    [
      'context',
      new Map([
        ['trace_id', span.traceId],
        ['span_id', span.spanId],
        ['trace_state', span.traceState],
      ]),
    ],
    ['kind', span.kind],
    ['parent_id', span.parentSpanId || null],
    ['start_time', toInstant(span.startTimeUnixNano)],
    ['end_time', toInstant(span.endTimeUnixNano)],
    [
      'status',
      new Map([
        ['code', span.status.code],
        ['message', span.status.message],
      ]),
    ],
    ['attributes', attributes],
    ['events', span.events.map(dumpEvent)],
    ['links', span.links.map(dumpLink)],
  ])
  return `${writeValue(dump).slice(0, -1)},"resource":${resource}}`
}

function dumpEvent(event: SpanEvent): Value {
  return new Map<string, Value>([
    ['name', event.name],
    ['timestamp', number(event.timeUnixNano)],
    ['attributes', nestAttributes(event.attributes)],
    ['dropped_attributes_count', number(event.droppedAttributesCount)],
  ])
}

function dumpLink(link: SpanLink): Value {
  return new Map<string, Value>([
    ['trace_id', link.traceId],
    ['span_id', link.spanId],
    ['trace_state', link.traceState],
    ['attributes', nestAttributes(link.attributes)],
    ['dropped_attributes_count', number(link.droppedAttributesCount)],
    ['flags', number(link.flags)],
  ])
}

function number(value: number | bigint): JsonNumber {
  return new JsonNumber(String(value))
}
