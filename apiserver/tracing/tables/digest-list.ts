/** The digests of a table's rows in their order, in pieces, so that a change in the middle of many moves few. */
export class DigestList {
  readonly #pieces: string[][]
  #length: number

  constructor(pieces: string[][]) {
    this.#pieces = pieces.length === 0 ? [[]] : pieces
    this.#length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  }

  get length(): number {
    return this.#length
  }

  /** Puts one before the place, or at the end. */
  insert(index: number, digest: string): void {
    const { piece, at } = this.#find(index)
    piece.splice(at, 0, digest)
    this.#length++
  }

  /** Takes the one at the place away. */
  remove(index: number): string {
    // The end of a piece is the same place as the beginning of the next.
    const { piece, at } = this.#find(index + 1)
    this.#length--
    return piece.splice(at - 1, 1)[0]!
  }

  toArray(): string[] {
    return this.#pieces.flat()
  }

  #find(index: number): { piece: string[]; at: number } {
    let at = index
    for (const piece of this.#pieces) {
      if (at <= piece.length) return { piece, at }
      at -= piece.length
    }
    throw new Error('a place behind the end')
  }
}
