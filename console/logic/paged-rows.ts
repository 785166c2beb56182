/** Rows of a table that are found by their indexes. An array is one. */
export interface RowList<Row> {
  readonly length: number
  /** The row at an index from 0 on, or nothing while it is being read. */
  at: (index: number) => Row | undefined
  findIndex: (isWanted: (row: Row) => boolean) => number
}

/** A list of which some pages are there. Each page but the last one has `size` rows. */
export class PagedRows<Row> implements RowList<Row> {
  readonly length: number
  /** Whether the last row is known, so that no page follows. */
  readonly isWhole: boolean
  readonly #pages: ReadonlyMap<number, readonly Row[]>
  readonly #size: number

  /** @param counted how many rows there are, as far as someone has counted them */
  constructor(pages: ReadonlyMap<number, readonly Row[]>, size: number, counted = 0) {
    const ends = [...pages].map(([index, rows]) => ({ end: index * size + rows.length, isLast: rows.length < size }))
    const lasts = ends.filter(({ isLast }) => isLast).map(({ end }) => end)
    this.isWhole = lasts.length > 0
    this.length = this.isWhole ? Math.min(...lasts) : Math.max(counted, 0, ...ends.map(({ end }) => end))
    this.#pages = pages
    this.#size = size
  }

  at(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / this.#size))?.[index % this.#size]
  }

  findIndex(isWanted: (row: Row) => boolean): number {
    for (const [index, rows] of this.#pages) {
      const offset = rows.findIndex(isWanted)
      if (offset >= 0) return index * this.#size + offset
    }
    return -1
  }

  /** The pages that have the rows from `first` to `last`, or some that are near them. */
  listPages(first: number, last: number): number[] {
    const [size, near] = [this.#size, this.#size / 2]
    const end = this.isWhole ? this.length - 1 : this.length
    const from = Math.max(0, Math.floor((first - near) / size))
    const to = Math.floor(Math.min(last + near, end) / size)
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  }
}
