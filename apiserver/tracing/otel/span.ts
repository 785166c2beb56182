import type { Attribute } from './any-value.ts'
import { ValueBudget } from '../../../lib/json/value.ts'
import { attributes, count, flags, id, name, nanos, shortText, text } from './field-types.ts'
import { many, Message, one } from './message.ts'

// Counts the attributes of a span, of its events and of its links, and the objects that dotted keys make.
const maxValues = 200_000

/** A budget for the values of a span or of a resource. */
export function createSpanBudget(): ValueBudget {
  return new ValueBudget(maxValues)
}

/** The source of spans: a process, a service. */
export interface Resource {
  attributes: Attribute[]
  droppedAttributesCount: number
}

export interface SpanEvent {
  timeUnixNano: bigint
  name: string
  attributes: Attribute[]
  droppedAttributesCount: number
}

export interface SpanLink {
  traceId: string
  spanId: string
  traceState: string
  attributes: Attribute[]
  droppedAttributesCount: number
  flags: number
}

/** Ids are hexadecimal. An empty id means none. */
export interface Span {
  traceId: string
  spanId: string
  traceState: string
  parentSpanId: string
  name: string
  /** INTERNAL, SERVER, ... */
  kind: string
  startTimeUnixNano: bigint
  endTimeUnixNano: bigint
  attributes: Attribute[]
  events: SpanEvent[]
  links: SpanLink[]
  status: { message: string; code: string }
}

// The field numbers are those of opentelemetry.proto.resource.v1 and opentelemetry.proto.trace.v1. The keys are the
// JSON names.
export const resourceMessage = new Message<Resource>({
  attributes: [1, attributes],
  droppedAttributesCount: [2, count],
})

const eventMessage = new Message<SpanEvent>({
  timeUnixNano: [1, nanos],
  name: [2, shortText],
  attributes: [3, attributes],
  droppedAttributesCount: [4, count],
})

const linkMessage = new Message<SpanLink>({
  traceId: [1, id],
  spanId: [2, id],
  traceState: [3, shortText],
  attributes: [4, attributes],
  droppedAttributesCount: [5, count],
  flags: [6, flags],
})

const statusMessage = new Message<Span['status']>({
  message: [2, text],
  code: [3, name('STATUS_CODE_', ['UNSET', 'OK', 'ERROR'])],
})

export const spanMessage = new Message<Span>({
  traceId: [1, id],
  spanId: [2, id],
  traceState: [3, shortText],
  parentSpanId: [4, id],
  name: [5, shortText],
  kind: [6, name('SPAN_KIND_', ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'])],
  startTimeUnixNano: [7, nanos],
  endTimeUnixNano: [8, nanos],
  attributes: [9, attributes],
  events: [11, many(eventMessage)],
  links: [13, many(linkMessage)],
  status: [15, one(statusMessage)],
})
