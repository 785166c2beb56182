import type { StoredCall } from '../../../db/tracing/read-calls.ts'
import { rawObject, rawText } from '../../json/raw.ts'
import { parseValue, writeValue, type Value } from '../json/value.ts'
import { deriveSummary } from './derive.ts'

/** What was looked up for a call, beside its row. */
export interface CallExtras {
  costs?: unknown
  /** A list. */
  feedback?: unknown
}

/** A call as clients read it: JSON in which payloads are the texts that came in. */
export function presentCall(projectId: string, call: StoredCall, extras: CallExtras = {}): string {
  const { attributes, inputs, output, summary, otel_dump: dump, ...plain } = call
  const wantsSummary = summary !== undefined
  return rawObject({
    ...plain,
    // Ours alone.
    spilled: undefined,
    held: undefined,
    descendant_errors: undefined,
    project_id: projectId,
    attributes: rawText(withMember(attributes ?? '{}', 'otel_span', dump)),
    inputs: rawText(inputs ?? '{}'),
    output: output === undefined ? undefined : rawText(output ?? 'null'),
    summary: wantsSummary ? rawText(presentSummary(call, extras)) : undefined,
  })
}

function presentSummary(call: StoredCall, extras: CallExtras): string {
  const derived = rawObject({ ...deriveSummary(call), ...extras })
  const stored = call.summary ?? '{}'
  // Only a summary that has such a key, or looks so, needs to be understood.
  if (!stored.includes('"weave"')) return withMember(stored, 'weave', derived)
  return mergeWeave(stored, derived)
}

/** What the client has stored under the key is replaced member by member. */
function mergeWeave(stored: string, derived: string): string {
  const summary = parseValue(stored) as Map<string, Value>
  const [own, computed] = [summary.get('weave'), parseValue(derived) as Map<string, Value>]
  summary.set('weave', new Map([...(own instanceof Map ? own : []), ...computed]))
  return writeValue(summary)
}

/** The text of an object with one member more at its end, where it counts. */
function withMember(object: string, name: string, value: string | null | undefined): string {
  if (!value) return object
  const open = object.slice(0, object.lastIndexOf('}'))
  return `${open}${/^\s*\{\s*$/.test(open) ? '' : ','}${JSON.stringify(name)}:${value}}`
}
