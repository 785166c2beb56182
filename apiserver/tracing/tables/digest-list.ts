// As chunks of tables are; twice as many are split, so that none grows without an end.
const pieceLength = 1_000

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
    const { place, at } = this.#find(index)
    const piece = this.#pieces[place]!
    piece.splice(at, 0, digest)
    this.#length++
    if (piece.length >= 2 * pieceLength) this.#pieces.splice(place + 1, 0, piece.splice(pieceLength))
  }

  /** Takes the one at the place away. */
  remove(index: number): string {
    // The end of a piece is the same place as the beginning of the next.
    const { place, at } = this.#find(index + 1)
    this.#length--
    return this.#pieces[place]!.splice(at - 1, 1)[0]!
  }

  toArray(): string[] {
    return this.#pieces.flat()
  }

  #find(index: number): { place: number; at: number } {
    let at = index
    for (const [place, piece] of this.#pieces.entries()) {
      if (at <= piece.length) return { place, at }
      at -= piece.length
    }
    throw new Error('a place behind the end')
  }
}
