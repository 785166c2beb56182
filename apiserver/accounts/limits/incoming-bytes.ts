import { quotaExceeded } from './quota.ts'
import type { KnownUse } from './storage-meter.ts'

interface Receipt {
  entity: string
  limit: number
  use: KnownUse
  /** Bytes in the store that are counted nowhere else. */
  beside: number
  /** 0 for an unknown length. */
  announced: number
}

/** The bytes of one body. They count as stored while they arrive and are written. */
export class IncomingBytes {
  readonly #receipt: Receipt
  #received = 0
  #reserved = 0

  /** @throws {HttpError} 403 if there is no room for the announced length */
  constructor(receipt: Receipt) {
    this.#receipt = receipt
    this.#require(receipt.announced)
    this.#reserve(receipt.announced)
  }

  /** Counts received bytes. @throws {HttpError} 403 if they exceed what the entity may store */
  add(bytes: number): void {
    const more = this.#received + bytes - this.#reserved
    if (more > 0) this.#require(more)
    this.count(bytes)
  }

  /** Counts bytes that can no longer be rejected. */
  count(bytes: number): void {
    this.#received += bytes
    if (this.#received > this.#reserved) this.#reserve(this.#received - this.#reserved)
  }

  /** The received bytes are stored. They count as added until the entity is measured again. */
  keep(): void {
    this.#receipt.use.added += this.#received
    this.#received = 0
    this.#reserve(-this.#reserved)
  }

  /** The bytes no longer count as incoming: they are stored, or dropped. */
  release(): void {
    this.#reserve(-this.#reserved)
  }

  #require(bytes: number): void {
    const { entity, limit, use, beside } = this.#receipt
    // What others have stored since the start counts too.
    const stored = beside + use.stored + use.incoming
    if (stored + bytes > limit) throw quotaExceeded(entity, { stored, limit, bytes })
  }

  #reserve(bytes: number): void {
    this.#receipt.use.incoming += bytes
    this.#reserved += bytes
  }
}
