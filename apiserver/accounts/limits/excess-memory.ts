import type { RequestReservation } from './request-memory.ts'

/**
 * What grows and shrinks while a request is answered, of which only what is beyond a free part counts: so nobody's usual
 * stream is broken off because others need much.
 */
export class ExcessMemory {
  readonly #memory: Pick<RequestReservation, 'add' | 'drop'>
  readonly #freeBytes: number
  #counted = 0

  constructor(memory: Pick<RequestReservation, 'add' | 'drop'>, freeBytes: number) {
    this.#memory = memory
    this.#freeBytes = freeBytes
  }

  /** Says how many bytes there are from now on. @throws {HttpError} as `HeldMemory.add` does, and changes nothing then */
  resize(bytes: number): void {
    const counted = Math.max(0, bytes - this.#freeBytes)
    if (counted > this.#counted) this.#memory.add(counted - this.#counted)
    else this.#memory.drop(this.#counted - counted)
    this.#counted = counted
  }
}
