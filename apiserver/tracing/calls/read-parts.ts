import { unprocessable } from '../../../lib/http/http-error.ts'
import { newId } from '../ids.ts'
import { parseInstant } from '../instants.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import type { CallEnd, CallStart } from './parts.ts'
import type { WireEnd, WireStart } from './schema.ts'

const maxNameLength = 1_024

/** Reads a start from a request. Creates the ids that it lacks. @throws {HttpError} 422 */
export function readStart(wire: WireStart, wbUserId: string, path: string[]): { id: string; start: CallStart } {
  return {
    id: wire.id ?? newId(),
    start: {
      traceId: wire.trace_id ?? newId(),
      opName: wire.op_name,
      displayName: wire.display_name && truncateName(wire.display_name),
      parentId: wire.parent_id || null,
      threadId: wire.thread_id || null,
      turnId: wire.turn_id || null,
      startedAt: readTime(wire.started_at, path, 'started_at'),
      attributes: readObject(wire.attributes, path, 'attributes'),
      inputs: readObject(wire.inputs, path, 'inputs'),
      otelDump: isNothing(wire.otel_dump) ? null : readObject(wire.otel_dump, path, 'otel_dump'),
      wbUserId,
      wbRunId: wire.wb_run_id || null,
      wbRunStep: wire.wb_run_step,
    },
  }
}

/** Reads an end from a request. @throws {HttpError} 422 */
export function readEnd(wire: WireEnd, path: string[]): CallEnd {
  return {
    endedAt: readTime(wire.ended_at, path, 'ended_at'),
    output: wire.output ?? null,
    exception: wire.exception,
    summary: readObject(wire.summary, path, 'summary'),
    wbRunStepEnd: wire.wb_run_step_end,
  }
}

/** Truncates a display name to the length that is stored. */
export function truncateName(name: string): string {
  return name.slice(0, maxNameLength)
}

function isNothing(text: JsonText | undefined): text is undefined {
  return text === undefined || text.first === 'n'
}

function readTime(text: string, path: string[], name: string): string {
  const time = parseInstant(text)
  if (time) return time
  throw unprocessable({ loc: [...path, name], msg: 'Input should be a valid datetime', type: 'datetime_parsing' })
}

function readObject(text: JsonText, path: string[], name: string): JsonText {
  if (text.first === '{') return text
  throw unprocessable({ loc: [...path, name], msg: 'Input should be a valid dictionary', type: 'dict_type' })
}
