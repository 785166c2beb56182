import { createHash, randomUUID } from 'node:crypto'

/** Ids for what a request makes: random ones; those of a request that may be repeated come from its seed. */
export class RequestIds {
  readonly #keyed: boolean
  #seed: string | undefined
  #given = 0

  /** @param keyed whether the request carries an Idempotency-Key, so that a seed will come */
  constructor(keyed: boolean) {
    this.#keyed = keyed
  }

  /** From now on the ids, one after the other, are those of the seed. */
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

/** A UUID of version 8, RFC 9562's for those that are made of a hash of one's own. */
function deriveUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
