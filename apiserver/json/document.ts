import { JsonMembers } from './members.ts'
import { outlineJson } from './outline.ts'

// Python's and V8's parsers take more; recursive code behind them does not always.
const maxDepth = 128

// In a body of 256 MiB of sampled tokens with their logprobs, a value takes 12 bytes and an object or array 28. Far more
// of them in the same space would take gigabytes as values.
const maxContainers = 12_000_000
const maxCommas = 32_000_000

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A JSON text that cannot be taken; the message says why. */
export class JsonError extends Error {
  override name = 'JsonError'
}

/** A JSON text: its bytes, the value that it stands for, and the bytes of its members if it is an object. */
export interface JsonDocument {
  bytes: Uint8Array
  value: unknown
  members: JsonMembers
}

/** @throws {JsonError} for bytes that are not UTF-8, not JSON, nested too deeply, or of too many values */
export function parseJson(bytes: Uint8Array): JsonDocument {
  const outline = outlineJson(bytes)
  if (outline.depth > maxDepth) throw new JsonError(`nested more than ${maxDepth} deep`)
  if (outline.containers > maxContainers || outline.commas > maxCommas) throw new JsonError('too many values')
  const value = parseText(decodeText(bytes))
  return { bytes, value, members: new JsonMembers(bytes, outline) }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new JsonError('not valid UTF-8', { cause })
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new JsonError('not valid JSON', { cause })
  }
}
