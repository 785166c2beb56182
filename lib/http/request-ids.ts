import { createHash, randomUUID } from 'node:crypto'

/** Creates ids for what a request creates. They are random, or derived from a seed if the request may be repeated. */
export class RequestIds {
  readonly #keyed: boolean
  #seed: string | undefined
  #given = 0

  /** @param keyed whether the request has an Idempotency-Key, so that it will get a seed */
  constructor(keyed: boolean) {
    this.#keyed = keyed
  }

  /** Derives the ids from this seed from now on. */
  follow(seed: string): void {
    this.#seed = seed
    this.#given = 0
  }

  next(): string {
    if (this.#seed !== undefined) return deriveUuid(`${this.#seed} ${this.#given++}`)
    if (this.#keyed) throw new Error('ids of a request with an Idempotency-Key are given inside of answerOnce only')
    return randomUUID()
  }
}

/** Returns a UUID of version 8: RFC 9562 has it for custom formats, such as this hash. */
function deriveUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
