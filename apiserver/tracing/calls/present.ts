import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { addMember, rawObject, rawText } from '../../../lib/json/raw.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { parseValue, writeValue, type Value } from '../../../lib/json/value.ts'
import { deriveSummary } from './derive.ts'

// Only servers write this member. The bound also limits the memory for merging it.
const maxClientMembersBytes = 64 * 1024

/** What was looked up for a call in addition to its row. */
export interface CostsAndFeedback {
  costs?: unknown
  /** A JSON array. */
  feedback?: unknown
}

/** A call as clients read it: JSON text that contains the stored texts of its payloads. */
export function presentCall(projectId: string, call: StoredCall, extras: CostsAndFeedback = {}): string {
  const { attributes, inputs, output, summary, otel_dump: dump, ...plain } = call
  const wantsSummary = summary !== undefined
  return rawObject({
    ...plain,
    // These columns are internal.
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

function presentSummary(call: StoredCall, extras: CostsAndFeedback): string {
  const computed = { ...deriveSummary(call), ...extras }
  const stored = call.summary ?? '{}'
  // Only a summary that contains the key's text needs to be searched.
  const bytes = stored.includes('"weave"') ? Buffer.from(stored) : undefined
  const own = bytes && findMember(bytes, 'weave')
  if (!own) return addMember(stored, 'weave', rawObject(computed))
  const merged = rawObject({ ...readClientMembers(own, computed), ...computed })
  return bytes.toString('utf8', 0, own.start) + merged + bytes.toString('utf8', own.end)
}

/**
 * The members that the client stored under the key and that the server does not compute. Empty unless they are an
 * object within the size limit.
 */
function readClientMembers(own: JsonText, computed: object): Record<string, unknown> {
  if (own.first !== '{' || own.size > maxClientMembersBytes) return {}
  const members = parseValue(own.toString()) as Map<string, Value>
  const kept = [...members].filter(([name]) => !Object.hasOwn(computed, name))
  return Object.fromEntries(kept.map(([name, value]) => [name, rawText(writeValue(value))]))
}
