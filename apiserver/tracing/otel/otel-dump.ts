import { addMember } from '../../../lib/json/raw.ts'
import { JsonNumber, type Value, type ValueBudget, writeValue } from '../../../lib/json/value.ts'
import { type Members, nestAttributes, nestIfPossible } from './nest.ts'
import { createSpanBudget, type Resource, type Span, type SpanLink } from './span.ts'
import { toInstant } from './time.ts'

/** Writes a resource as it appears in the dumps of all its spans, as JSON text. */
export function writeResource(resource: Resource): string {
  const { attributes, droppedAttributesCount } = resource
  return writeValue(
    new Map<string, Value>([
      ['attributes', nestIfPossible(attributes, createSpanBudget())],
      ['dropped_attributes_count', number(droppedAttributesCount)],
    ]),
  )
}

/** The parts of a dump beside the span: its nested attributes, those of its events, and its resource as text. */
interface Parts {
  attributes: Members
  events: readonly Members[]
  resource: string
  /** For the attributes of links. */
  budget: ValueBudget
}

/** Writes a whole span as JSON text. Clients find it in the call's attributes as `otel_span`. */
export function dumpSpan(span: Span, { attributes, events, resource, budget }: Parts): string {
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
    ['end_time', span.endTimeUnixNano === 0n ? null : toInstant(span.endTimeUnixNano)],
    [
      'status',
      new Map([
        ['code', span.status.code],
        ['message', span.status.message],
      ]),
    ],
    ['attributes', attributes],
    ['events', span.events.map((event, index) => dumpEvent(event, events[index]!))],
    ['links', span.links.map((link) => dumpLink(link, budget))],
  ])
  return addMember(writeValue(dump), 'resource', resource)
}

function dumpEvent(event: Span['events'][0], attributes: Members): Value {
  return new Map<string, Value>([
    ['name', event.name],
    ['timestamp', number(event.timeUnixNano)],
    ['attributes', attributes],
    ['dropped_attributes_count', number(event.droppedAttributesCount)],
  ])
}

function dumpLink(link: SpanLink, budget: ValueBudget): Value {
  return new Map<string, Value>([
    ['trace_id', link.traceId],
    ['span_id', link.spanId],
    ['trace_state', link.traceState],
    ['attributes', nestAttributes(link.attributes, budget)],
    ['dropped_attributes_count', number(link.droppedAttributesCount)],
    ['flags', number(link.flags)],
  ])
}

function number(value: number | bigint): JsonNumber {
  return new JsonNumber(String(value))
}
