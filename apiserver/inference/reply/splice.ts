const nothing = Buffer.alloc(0)

/** Replacements in a buffer, made with one copy. */
export class Splice {
  readonly bytes: Buffer
  /** Start and end of each replaced range, in order. */
  #ranges: number[] = []
  #texts: Uint8Array[] = []
  #growth = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** How many bytes there are with all replacements. */
  get length(): number {
    return this.bytes.length + this.#growth
  }

  /** Replaces a range behind all ranges that were replaced before. */
  replace(start: number, end: number, text: Uint8Array): void {
    this.#ranges.push(start, end)
    this.#texts.push(text)
    this.#growth += text.length - (end - start)
  }

  /** The bytes with all replacements. If there are none, the same buffer. */
  join(): Buffer {
    return this.#texts.length === 0 ? this.bytes : this.joinBetween(nothing, nothing)
  }

  /** A copy of the bytes with all replacements, with others before and after them. */
  joinBetween(before: Buffer, after: Buffer): Buffer {
    const joined = Buffer.allocUnsafe(before.length + this.length + after.length)
    let at = before.copy(joined)
    let from = 0
    for (let index = 0; index < this.#texts.length; index++) {
      const text = this.#texts[index]!
      at += this.bytes.copy(joined, at, from, this.#ranges[2 * index])
      joined.set(text, at)
      at += text.length
      from = this.#ranges[2 * index + 1]!
    }
    at += this.bytes.copy(joined, at, from)
    after.copy(joined, at)
    return joined
  }
}
