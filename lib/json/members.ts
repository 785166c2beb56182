import { jsonBytes } from './bytes.ts'
import { outlineJson, type ByteRange, type JsonOutline } from './outline.ts'

const { backslash, quote } = jsonBytes

/** The members of a JSON object as bytes. Some can be changed while all others keep their exact bytes. */
export class JsonMembers {
  readonly #bytes: Uint8Array
  readonly #ranges: Map<string, ByteRange>

  /**
   * A text that is not an object has no members. An invalid text may have some.
   *
   * @throws {SyntaxError} if a key is not a JSON text
   */
  constructor(bytes: Uint8Array, outline: JsonOutline = outlineJson(bytes)) {
    this.#bytes = bytes
    this.#ranges = new Map()
    // If a key is repeated, its last value counts, as in JSON.parse.
    for (const { key, value } of outline.members) this.#ranges.set(parseKey(bytes, key), value)
  }

  has(name: string): boolean {
    return this.#ranges.has(name)
  }

  /** The exact bytes of a member's value. Undefined if there is none. */
  get(name: string): Uint8Array | undefined {
    const range = this.#ranges.get(name)
    return range && this.#bytes.subarray(range.start, range.end)
  }

  /** Returns the object's text with members removed (undefined) or set to other values. */
  change(changes: Record<string, unknown>): Buffer {
    const kept = [...this.#ranges.keys()].filter((name) => !Object.hasOwn(changes, name))
    const given = Object.entries(changes).filter(([, value]) => value !== undefined)
    const members: [string, Uint8Array][] = [
      ...kept.map((name): [string, Uint8Array] => [name, this.get(name)!]),
      ...given.map(([name, value]): [string, Uint8Array] => [name, Buffer.from(JSON.stringify(value))]),
    ]
    const parts = members.flatMap(([name, value], index) => [
      Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`),
      value,
    ])
    return Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')])
  }
}

function parseKey(bytes: Uint8Array, { start, end }: ByteRange): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
  const isPlain = text[0] === quote && text.at(-1) === quote && !text.includes(backslash)
  return isPlain ? text.toString('utf8', 1, text.length - 1) : String(JSON.parse(text.toString()))
}
