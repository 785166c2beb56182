import type { CallRow } from '../../../db/tracing/write-calls.ts'
import { JsonText } from '../json/text.ts'
import type { Project } from '../projects.ts'
import type { CallPart } from './parts.ts'
import { findRefs } from './refs.ts'
import { weekOf } from './week.ts'

/** The row of a call, or of the part of it that has come. */
export function buildRow(project: Project, { id, start, end }: CallPart): CallRow {
  return {
    week: weekOf(id),
    project: project.number,
    id,
    start: start && {
      ...start,
      // An empty name is none.
      displayName: start.displayName || null,
      inputRefs: findRefs(start.inputs.bytes),
    },
    end: end && {
      ...end,
      outputRefs: end.output ? findRefs(end.output.bytes) : undefined,
      descendantErrors: hasErrors(end.summary),
    },
    payloads: {
      attributes: start?.attributes.bytes,
      inputs: start?.inputs.bytes,
      otel_dump: start?.otelDump?.bytes,
      output: end?.output?.bytes,
      summary: end?.summary.bytes,
    },
    startSize: start ? start.attributes.size + start.inputs.size + (start.otelDump?.size ?? 0) : 0,
    endSize: end ? (end.output?.size ?? 0) + end.summary.size : 0,
    spilled: undefined,
  }
}

const counts = Buffer.from('"status_counts"')

/** Whether a summary tells of errors below the call. */
function hasErrors(summary: JsonText): boolean {
  if (!summary.bytes.includes(counts)) return false
  const { status_counts: found } = JSON.parse(summary.toString()) as { status_counts?: { error?: unknown } | null }
  return Number(found?.error) > 0
}
