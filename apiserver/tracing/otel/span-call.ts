import type { CallEnd, CallPart, CallStart } from '../calls/parts.ts'
import { JsonText } from '../../../lib/json/json-text.ts'
import { type Value, writeValue } from '../../../lib/json/value.ts'
import { attributeKeys, callKeys, inputKeys, outputKeys, timeKeys } from './conventions.ts'
import { OtlpError } from './otlp-error.ts'
import { findFirst, findInteger, findText } from './find-attribute.ts'
import { truncateName } from './field-types.ts'
import { shortenDisplayName, shortenOpName } from './names.ts'
import { listMessages, type NestedEvent } from './message-events.ts'
import { type Members, nestAttributes } from './nest.ts'
import { dumpSpan } from './otel-dump.ts'
import { readInputs, readOutput } from './payloads.ts'
import { createSpanBudget, type Span } from './span.ts'
import { findInstant, toInstant } from './time.ts'
import { readUsage } from './usage.ts'

// The same limit as for ids of other requests: an index entry has room for it.
const maxIdLength = 256

/** What a call has from the request around its span. */
export interface CallContext {
  /** entity/name */
  projectId: string
  /** As written by `writeResource`. */
  resource: string
  wbUserId: string
  /** From the request's header. */
  wbRunId: string | undefined
}

/**
 * Creates the call of a span. A span without an end time is a call that still runs. @throws {OtlpError} for a span that
 * cannot become a call, and TooManyValues
 */
export function createCall(span: Span, context: CallContext): CallPart {
  if (span.spanId === '' || span.traceId === '') throw new OtlpError('a span needs a span_id and a trace_id')
  const budget = createSpanBudget()
  const attributes = nestAttributes(span.attributes, budget)
  const events = span.events.map(({ name, attributes: own }) => ({ name, attributes: nestAttributes(own, budget) }))
  const otelDump = dumpSpan(span, {
    attributes,
    events: events.map((event) => event.attributes),
    resource: context.resource,
    budget,
  })
  const nested = { attributes, events }
  const start = { ...createStart(span, nested, context), otelDump: new JsonText(Buffer.from(otelDump)) }
  const endedAt = findInstant(attributes, timeKeys.end) ?? findEnd(span)
  return { id: span.spanId, start, ...(endedAt && { end: createEnd(span, nested, endedAt) }) }
}

/** The attributes of a span and of its events, nested. */
interface Nested {
  attributes: Members
  events: readonly NestedEvent[]
}

function findEnd({ endTimeUnixNano }: Span): string | undefined {
  return endTimeUnixNano === 0n ? undefined : toInstant(endTimeUnixNano)
}

function createStart(span: Span, { attributes, events }: Nested, context: CallContext): CallStart {
  const displayName = findText(attributes, callKeys.displayName)
  return {
    traceId: span.traceId,
    opName: shortenOpName(span.name),
    displayName: displayName && shortenDisplayName(truncateName(displayName)),
    parentId: span.parentSpanId || null,
    ...readThread(span, attributes),
    startedAt: findInstant(attributes, timeKeys.start) ?? toInstant(span.startTimeUnixNano),
    attributes: toText(readAttributes({ attributes, events })),
    inputs: toText(readInputs(attributes, events)),
    wbUserId: context.wbUserId,
    wbRunId: checkId('a run', readRunId(attributes, context)),
    wbRunStep: toStep(findInteger(attributes, callKeys.runStep)),
  }
}

function createEnd(span: Span, { attributes, events }: Nested, endedAt: string): CallEnd {
  return {
    endedAt,
    output: toText(readOutput(attributes, events)),
    // A call without an exception text would look successful.
    exception: span.status.code === 'ERROR' ? span.status.message || 'ERROR' : null,
    summary: toText(readSummary(attributes)),
    wbRunStepEnd: toStep(findInteger(attributes, callKeys.runStepEnd)),
  }
}

/**
 * Reads the attributes that the conventions name, or all attributes if the span follows no convention.
 * `wandb.attributes` overrides both.
 */
function readAttributes({ attributes, events }: Nested): Members {
  const read = readConventional(attributes)
  const isConventional =
    read.size > 0 ||
    [inputKeys, outputKeys].some((keys) => findFirst(attributes, keys)) ||
    listMessages(events).size > 0 ||
    readUsage(attributes) !== undefined
  if (!isConventional) return attributes
  const own = findFirst(attributes, callKeys.attributes)?.[1]
  return own instanceof Map ? new Map([...read, ...own]) : read
}

function readConventional(attributes: Members): Members {
  const found = Object.entries(attributeKeys).map(([name, keys]) => [name, findFirst(attributes, keys)?.[1]] as const)
  return new Map(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** The usage is stored under the model's name, which costs are looked up by. */
function readSummary(attributes: Members): Members {
  const usage = readUsage(attributes)
  return usage ? new Map([['usage', new Map([[findModel(attributes) ?? 'usage', usage]])]]) : new Map()
}

/**
 * A thread and its turns as weave names them, or else a conversation. In a conversation, the spans of agents are turns,
 * and spans without a parent.
 */
function readThread(span: Span, attributes: Members): Pick<CallStart, 'threadId' | 'turnId'> {
  const own = checkId('a thread', findText(attributes, callKeys.threadId))
  const threadId = own ?? readConversation(attributes)
  if (threadId === undefined) return { threadId, turnId: undefined }
  const isTurn =
    findFirst(attributes, callKeys.isTurn) !== undefined ||
    (own === undefined && (span.parentSpanId === '' || findText(attributes, callKeys.operation) === 'invoke_agent'))
  return { threadId, turnId: isTurn ? span.spanId : undefined }
}

/** Instrumentations know no limit for it. A call without its thread is better than none. */
function readConversation(attributes: Members): string | undefined {
  const id = findText(attributes, callKeys.conversationId)
  return id !== undefined && id.length > maxIdLength ? undefined : id
}

function findModel(attributes: Members): string | undefined {
  const parameters = findFirst(attributes, attributeKeys.model_parameters!)?.[1]
  const asked = parameters instanceof Map ? findText(parameters, ['model']) : undefined
  return findText(attributes, attributeKeys.model!) ?? asked
}

/** Returns the run as entity/project/run, which clients read. Undefined for a run of another project. */
function readRunId(attributes: Members, { wbRunId, projectId }: CallContext): string | undefined {
  const runId = wbRunId ?? findText(attributes, callKeys.runId)
  if (!runId || runId.startsWith(`${projectId}/`)) return runId
  return /[/:]/.test(runId) ? undefined : `${projectId}/${runId}`
}

function checkId(name: string, id: string | undefined): string | undefined {
  if (id && id.length > maxIdLength) throw new OtlpError(`the id of ${name} has more than ${maxIdLength} characters`)
  return id
}

function toStep(integer: bigint | undefined): number | undefined {
  const step = Number(integer)
  return Number.isSafeInteger(step) ? step : undefined
}

function toText(value: Value): JsonText {
  return new JsonText(Buffer.from(writeValue(value)))
}
