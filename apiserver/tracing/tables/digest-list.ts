// The clients' chunks of tables have this length. A piece of twice the length is split.
const pieceLength = 1_000

/** The row digests of a table, in order. They are kept in pieces, so that a change in the middle moves few of them. */
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

  /** Inserts a digest before the index, or at the end. */
  insert(index: number, digest: string): void {
    const { pieceIndex, at } = this.#find(index)
    const piece = this.#pieces[pieceIndex]!
    piece.splice(at, 0, digest)
    this.#length++
    if (piece.length >= 2 * pieceLength) this.#pieces.splice(pieceIndex + 1, 0, piece.splice(pieceLength))
  }

  /** Removes the digest at the index, and returns it. */
  remove(index: number): string {
    // The end of a piece and the beginning of the next piece are the same index.
    const { pieceIndex, at } = this.#find(index + 1)
    this.#length--
    return this.#pieces[pieceIndex]!.splice(at - 1, 1)[0]!
  }

  toArray(): string[] {
    return this.#pieces.flat()
  }

  #find(index: number): { pieceIndex: number; at: number } {
    let at = index
    for (const [pieceIndex, piece] of this.#pieces.entries()) {
      if (at <= piece.length) return { pieceIndex, at }
      at -= piece.length
    }
    throw new Error('an index behind the end')
  }
}
