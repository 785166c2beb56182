import { outlineJson, type ByteRange, type JsonOutline } from './outline.ts'

/** The members of a JSON object as bytes: some can be changed while all others keep their exact bytes. */
export class JsonMembers {
  readonly #bytes: Uint8Array
  readonly #ranges: Map<string, ByteRange>

  /**
   * A text that is not an object has no members; one that does not parse may have some.
   *
   * @throws {SyntaxError} when a key is no JSON text
   */
  constructor(bytes: Uint8Array, outline: JsonOutline = outlineJson(bytes)) {
    this.#bytes = bytes
    // The last of a key's values counts, as in JSON.parse.
    this.#ranges = new Map(outline.members.map(({ key, value }) => [parseKey(bytes, key), value]))
  }

  has(name: string): boolean {
    return this.#ranges.has(name)
  }

  /** The exact bytes of a member's value, or undefined when it is not there. */
  get(name: string): Uint8Array | undefined {
    const range = this.#ranges.get(name)
    return range && this.#bytes.subarray(range.start, range.end)
  }

  /** The object's text with members left out (undefined) or set to other values. */
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
  return String(JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()))
}
