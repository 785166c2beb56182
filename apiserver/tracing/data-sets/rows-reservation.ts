import { tooLarge } from '../errors.ts'
import type { ReadMemory } from '../read-memory.ts'

// A request of a client that sends the rows itself may have twice as much.
const maxBytes = 16 * 1024 * 1024

/** The rows of one request: their memory is reserved, and they have at most 16 MiB together. */
export class RowsReservation {
  readonly #memory: ReadMemory
  #bytes = 0

  constructor(memory: ReadMemory) {
    this.#memory = memory
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts a row. @throws {HttpError} 413, 429 or 503 */
  add(row: string): void {
    this.expect(row.length)
  }

  /** Counts bytes that are about to be read. @throws {HttpError} as `add` does */
  expect(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > maxBytes) throw tooLarge()
    this.#memory.add(bytes)
  }
}
