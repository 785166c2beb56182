import { ExcessMemory } from '../accounts/limits/excess-memory.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import type { Pool } from '../../db/pool.ts'

/** What rows are read from. */
export interface ReadDeps {
  pool: Pool
  /** Counts what is read. */
  reading: ReadMemory
}

/** A list is read in parts of so many bytes, or of one thing that is larger. */
export const partBytes = 4 * 1024 * 1024

// As it is read, and as it is sent.
const copies = 2

/** What a list takes, however long it is. It is reserved before the first byte, because nobody can be refused later. */
export const streamBytes = copies * partBytes

/** Counts what one answer reads, before it is read. */
export class ReadMemory {
  readonly #excess: ExcessMemory
  #bytes = 0

  constructor(excess: ExcessMemory) {
    this.#excess = excess
  }

  /** Of what is being read now. */
  get bytes(): number {
    return this.#bytes
  }

  /** The next part has so many bytes; the one before is let go. @throws {HttpError} 413, 429 or 503 when there is no room */
  next(bytes: number): void {
    this.#excess.resize(copies * bytes)
    this.#bytes = bytes
  }

  /** So many bytes more are read for the same part. @throws {HttpError} as `next` does */
  readonly add = (bytes: number): void => this.next(this.#bytes + bytes)
}

/** Of an answer that is read whole. */
export function countRead(memory: RequestReservation): ReadMemory {
  return new ReadMemory(new ExcessMemory(memory, 0))
}

/** Of an answer of `sendChunks`, which has reserved what the usual parts take. */
export function countStream(memory: RequestReservation): ReadMemory {
  return new ReadMemory(new ExcessMemory(memory, streamBytes))
}
