import { maxParsedDepth } from './depth.ts'
import { JsonMembers } from './members.ts'
import { outlineJson, type JsonOutline } from './outline.ts'
import { decodeText, findTextStart, JsonError } from './parse.ts'
import { parseText } from './parse-text.ts'

// A dense text of 256 MiB, such as a list of tokens with their log-probabilities, has 12 bytes for each value and 28
// for each object or array. Texts with many more would become gigabytes of values.
const maxContainers = 12_000_000
const maxCommas = 32_000_000

/** A JSON text: its bytes, its value, and the bytes of its members if it is an object. */
export interface JsonDocument {
  bytes: Uint8Array
  value: unknown
  members: JsonMembers
}

/** Called before values are built. It throws if a text of this size must not be built. */
export type AcceptOutline = (outline: JsonOutline) => void

/**
 * @throws {JsonError} for bytes that are not UTF-8, not JSON, nested too deeply, or have too many values; and what
 * `accept` throws
 */
export function parseJson(bytes: Uint8Array, accept: AcceptOutline = () => {}): JsonDocument {
  const outline = outlineJson(bytes)
  if (outline.depth > maxParsedDepth) throw new JsonError(`nested more than ${maxParsedDepth} levels deep`)
  if (outline.containers > maxContainers || outline.commas > maxCommas) throw new JsonError('too many values')
  accept(outline)
  const value = parseText(decodeText(bytes.subarray(findTextStart(bytes))))
  return { bytes, value, members: new JsonMembers(bytes, outline) }
}
