import { tooLarge } from './errors.ts'
import { ExcessMemory } from '../accounts/limits/excess-memory.ts'
import type { RequestReservation } from '../accounts/limits/request-memory.ts'
import type { Pool } from '../../db/pool.ts'

export interface ReadDeps {
  pool: Pool
  /** Counts the bytes that are read. */
  reading: ReadMemory
}

/** A list is read in parts of this size. A larger item is a part by itself. */
export const partBytes = 4 * 1024 * 1024

// Data is in memory twice: as read from the database, and as text to send.
const copies = 2

/**
 * The memory of a list of any length. It is reserved before the first byte is sent, because a response cannot be
 * rejected later.
 */
export const streamBytes = copies * partBytes

/** Counts the bytes that one response reads, before they are read. */
export class ReadMemory {
  readonly #excess: ExcessMemory
  readonly #maxBytes: number
  #bytes = 0

  constructor(excess: ExcessMemory, maxBytes = Infinity) {
    this.#excess = excess
    this.#maxBytes = maxBytes
  }

  /** The bytes of the current part. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Begins a part of this size. The previous part is no longer counted. @throws {HttpError} 413 for a part of more than
   * the maximum, and 413, 429 or 503 when there is not enough memory
   */
  next(bytes: number): void {
    if (bytes > this.#maxBytes) throw tooLarge()
    this.#excess.resize(copies * bytes)
    this.#bytes = bytes
  }

  /** Adds bytes to the current part. @throws {HttpError} as `next` does */
  readonly add = (bytes: number): void => this.next(this.#bytes + bytes)
}

/** For a response that is read as a whole. */
export function countRead(memory: RequestReservation, maxBytes?: number): ReadMemory {
  return new ReadMemory(new ExcessMemory(memory, 0), maxBytes)
}

/** For a response of `sendChunks`, which has reserved `streamBytes`. */
export function countStream(memory: RequestReservation): ReadMemory {
  return new ReadMemory(new ExcessMemory(memory, streamBytes))
}
