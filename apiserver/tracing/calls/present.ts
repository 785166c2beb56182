import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { addMember, rawObject, rawText } from '../../../lib/json/raw.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { parseValue, writeValue, type Value } from '../../../lib/json/value.ts'
import { deriveSummary } from './derive.ts'

// Nobody but servers writes there; what it takes to build it is bounded with it.
const maxOwnBytes = 64 * 1024

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
    attributes: rawText(dump ? addMember(attributes ?? '{}', 'otel_span', dump) : (attributes ?? '{}')),
    inputs: rawText(inputs ?? '{}'),
    output: output === undefined ? undefined : rawText(output ?? 'null'),
    summary: wantsSummary ? rawText(presentSummary(call, extras)) : undefined,
  })
}

function presentSummary(call: StoredCall, extras: CallExtras): string {
  const computed = { ...deriveSummary(call), ...extras }
  const stored = call.summary ?? '{}'
  // Only a summary that has such a key, or looks so, needs to be gone through.
  const bytes = stored.includes('"weave"') ? Buffer.from(stored) : undefined
  const own = bytes && findMember(bytes, 'weave')
  if (!own) return addMember(stored, 'weave', rawObject(computed))
  const merged = rawObject({ ...readOwn(own, computed), ...computed })
  return bytes.toString('utf8', 0, own.start) + merged + bytes.toString('utf8', own.end)
}

/** What the client has stored under the key and is not computed; nothing when that is no object of some size. */
function readOwn(own: JsonText, computed: object): Record<string, unknown> {
  if (own.first !== '{' || own.size > maxOwnBytes) return {}
  const members = parseValue(own.toString()) as Map<string, Value>
  const kept = [...members].filter(([name]) => !Object.hasOwn(computed, name))
  return Object.fromEntries(kept.map(([name, value]) => [name, rawText(writeValue(value))]))
}
