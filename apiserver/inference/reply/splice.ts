/** A copy of a buffer with one range replaced. */
export function replaceBytes(bytes: Buffer, { start, end }: { start: number; end: number }, text: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafe(bytes.length + text.length - (end - start))
  bytes.copy(copy, 0, 0, start)
  copy.set(text, start)
  bytes.copy(copy, start + text.length, end)
  return copy
}

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

  /** Replaces a range behind all ranges that were replaced before. */
  replace(start: number, end: number, text: Uint8Array): void {
    this.#ranges.push(start, end)
    this.#texts.push(text)
    this.#growth += text.length - (end - start)
  }

  /** The bytes with all replacements. If there are none, the same buffer. */
  join(): Buffer {
    if (this.#texts.length === 0) return this.bytes
    const { bytes } = this
    const joined = Buffer.allocUnsafe(bytes.length + this.#growth)
    let from = 0
    let at = 0
    for (const [index, text] of this.#texts.entries()) {
      at += bytes.copy(joined, at, from, this.#ranges[2 * index])
      joined.set(text, at)
      at += text.length
      from = this.#ranges[2 * index + 1]!
    }
    bytes.copy(joined, at, from)
    return joined
  }
}
