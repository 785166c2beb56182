import type { RequestReservation } from './request-memory.ts'

/**
 * Memory that grows and shrinks during a request. Only the part above a free amount counts, so that a normal stream is
 * not aborted because others need much.
 */
export class ExcessMemory {
  readonly #memory: Pick<RequestReservation, 'add' | 'drop'>
  readonly #freeBytes: number
  #counted = 0

  constructor(memory: Pick<RequestReservation, 'add' | 'drop'>, freeBytes: number) {
    this.#memory = memory
    this.#freeBytes = freeBytes
  }

  /** Sets the number of bytes. @throws {HttpError} as `RequestReservation.add` does, and then changes nothing */
  resize(bytes: number): void {
    const counted = Math.max(0, bytes - this.#freeBytes)
    if (counted > this.#counted) this.#memory.add(counted - this.#counted)
    else this.#memory.drop(this.#counted - counted)
    this.#counted = counted
  }
}
