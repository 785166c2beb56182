import { JsonMembers } from './members.ts'
import { outlineJson, type JsonOutline } from './outline.ts'
import { decodeText, findTextStart, JsonError, maxDepth, parseText } from './text.ts'

// In a body of 256 MiB of sampled tokens with their logprobs, a value takes 12 bytes and an object or array 28. Far more
// of them in the same space would take gigabytes as values.
const maxContainers = 12_000_000
const maxCommas = 32_000_000

/** A JSON text: its bytes, the value that it stands for, and the bytes of its members if it is an object. */
export interface JsonDocument {
  bytes: Uint8Array
  value: unknown
  members: JsonMembers
}

/** Throws when no values are to be made of so much; called before any are made. */
export type AcceptOutline = (outline: JsonOutline) => void

/**
 * @throws {JsonError} for bytes that are not UTF-8, not JSON, nested too deeply, or of too many values; and what `accept`
 * throws
 */
export function parseJson(bytes: Uint8Array, accept: AcceptOutline = () => {}): JsonDocument {
  const outline = outlineJson(bytes)
  if (outline.depth > maxDepth) throw new JsonError(`nested more than ${maxDepth} deep`)
  if (outline.containers > maxContainers || outline.commas > maxCommas) throw new JsonError('too many values')
  accept(outline)
  const value = parseText(decodeText(bytes.subarray(findTextStart(bytes))))
  return { bytes, value, members: new JsonMembers(bytes, outline) }
}
