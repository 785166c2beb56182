import { outlineJson, type ByteRange } from './outline.ts'

// Python's and V8's parsers take more; recursive code behind them does not always.
const maxDepth = 128

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A JSON text that cannot be taken; the message says why. */
export class JsonError extends Error {
  override name = 'JsonError'
}

/** A parsed JSON text together with its bytes, so that parts of it can be passed on exactly as they came. */
export class JsonDocument {
  readonly bytes: Uint8Array
  readonly value: unknown
  readonly #members: Map<string, ByteRange>

  private constructor(bytes: Uint8Array, value: unknown, members: Map<string, ByteRange>) {
    this.bytes = bytes
    this.value = value
    this.#members = members
  }

  /** @throws {JsonError} for bytes that are not UTF-8, not JSON, or nested too deeply */
  static parse(bytes: Uint8Array): JsonDocument {
    const outline = outlineJson(bytes)
    if (outline.depth > maxDepth) throw new JsonError(`nested more than ${maxDepth} deep`)
    const value = parseText(decodeText(bytes))
    // Of a key given twice the last one counts, as in JSON.parse.
    const members = outline.members.map(
      ({ key, value: range }) => [parseText(decodeText(cut(bytes, key))) as string, range] as const,
    )
    return new JsonDocument(bytes, value, new Map(members))
  }

  /** The exact bytes of a top-level member's value, or undefined when it is not there. */
  member(name: string): Uint8Array | undefined {
    const range = this.#members.get(name)
    return range && cut(this.bytes, range)
  }

  /** The object's text with members left out (undefined) or set to other values; all others keep their bytes. */
  withMembers(changes: Record<string, unknown>): Buffer {
    const parts: Uint8Array[] = []
    const add = (name: string, value: Uint8Array) => {
      parts.push(Buffer.from(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`), value)
    }
    for (const [name, range] of this.#members) if (!Object.hasOwn(changes, name)) add(name, cut(this.bytes, range))
    for (const [name, value] of Object.entries(changes)) {
      if (value !== undefined) add(name, Buffer.from(JSON.stringify(value)))
    }
    return Buffer.concat([...(parts.length === 0 ? [Buffer.from('{')] : parts), Buffer.from('}')])
  }
}

function cut(bytes: Uint8Array, range: ByteRange): Uint8Array {
  return bytes.subarray(range.start, range.end)
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
