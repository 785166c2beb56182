import type { CallRow } from '../../../db/tracing/call-rows.ts'
import type { Project } from '../projects.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import type { CallPart } from './parts.ts'
import { findRefs } from './refs.ts'
import { weekOf } from '../../../db/tracing/week.ts'

/** Builds the row of a call, or of the part of it that was received. */
export function buildRow(project: Project, { id, start, end }: CallPart): CallRow {
  const [inputs, output, summary] = [start?.inputs.bytes, end?.output?.bytes, end?.summary.bytes]
  return {
    week: weekOf(id),
    project: project.number,
    id,
    start: start && {
      ...start,
      // An empty name means no name.
      displayName: start.displayName || null,
      inputRefs: findRefs(inputs!),
    },
    end: end && {
      ...end,
      exception: end.exception && cutException(end.exception),
      outputRefs: output && findRefs(output),
      descendantErrors: hasErrors(summary!),
    },
    payloads: {
      attributes: start?.attributes.bytes,
      inputs,
      otel_dump: start?.otelDump?.bytes,
      output,
      summary,
    },
    startSize: start ? start.attributes.size + start.inputs.size + (start.otelDump?.size ?? 0) : 0,
    endSize: end ? (end.output?.size ?? 0) + end.summary.size : 0,
    spilled: undefined,
  }
}

// Exceptions are stored in the row, and the size of a row is limited.
const maxExceptionLength = 256 * 1024

/** Truncates a text that is too long, and marks it. */
function cutException(text: string): string {
  if (text.length <= maxExceptionLength) return text
  return `${text.slice(0, maxExceptionLength).toWellFormed()}… (${text.length - maxExceptionLength} characters more)`
}

// `status_counts` contains two numbers.
const maxCountsBytes = 4 * 1024
// Nearly all summaries count no errors. Only the others are parsed.
const mayCountErrors = /"error"\s*:(?!\s*0\s*[,}])/

/** Whether a summary counts errors among the call's descendants. */
function hasErrors(summary: Buffer): boolean {
  if (!mayCountErrors.test(summary.toString())) return false
  const counts = findMember(summary, 'status_counts')
  if (!counts || counts.size > maxCountsBytes) return false
  const parsed = JSON.parse(counts.toString()) as { error?: unknown } | null
  return Number(parsed?.error) > 0
}
