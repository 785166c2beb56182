import { isAscii, isUtf8 } from 'node:buffer'
import { maxParsedDepth } from './depth.ts'
import type { AcceptOutline, JsonDocument } from './document.ts'
import { searchLoneSurrogate } from './lone-surrogate.ts'
import { JsonMembers } from './members.ts'
import { outlineText } from './outline-text.ts'

const nothing = new Uint8Array()

/**
 * Parses a JSON text of which each byte is one character: what is not ASCII in its texts reads wrong, and all else as it
 * is. Of a text of 64 KiB that is not all ASCII this takes a third of the time of `parseJson`, because V8 keeps two bytes
 * for each of its characters otherwise.
 *
 * @param exact names of the members whose texts are used, which must be ASCII, as all names are
 * @returns undefined for what has to be parsed by `parseJson`, and for all that it rejects
 */
export function parseByteView(
  bytes: Buffer,
  exact: readonly string[],
  accept: AcceptOutline,
): JsonDocument | undefined {
  if (!isUtf8(bytes)) return undefined
  const source = bytes.toString('latin1')
  const outline = outlineText(source)
  if (outline.depth > maxParsedDepth || outline.members.length === 0) return undefined
  if (!outline.members.every(({ key }) => isAscii(bytes.subarray(key.start, key.end)))) return undefined
  accept(outline)
  const value = parse(source)
  if (value === undefined || searchLoneSurrogate(value)) return undefined
  const members = new JsonMembers(bytes, outline)
  const isExact = exact.every((name) => isAscii(members.get(name) ?? nothing))
  return isExact ? { bytes, value, members } : undefined
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch {
    return undefined
  }
}
