import { quotaExceeded } from './quota.ts'
import type { KnownUse } from './storage-meter.ts'

interface Receipt {
  entity: string
  limit: number
  use: KnownUse
  /** Lies there and is counted nowhere else. */
  beside: number
  /** 0 for a length that is not known. */
  announced: number
  /** Lets the next body in. */
  releaseTurn: () => void
}

/** The bytes of one body, which count as stored while they come in and are written. */
export class IncomingBytes {
  readonly #receipt: Receipt
  #received = 0
  #reserved = 0

  /** @throws {HttpError} 403 when there is no room for the announced length */
  constructor(receipt: Receipt) {
    this.#receipt = receipt
    this.#require(receipt.announced)
    this.#reserve(receipt.announced)
  }

  /** Counts what has come. @throws {HttpError} 403 when it is more than the entity may store */
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

  /** All has come: the next body may. */
  end(): void {
    this.#receipt.releaseTurn()
  }

  /** What has come until now is stored: it counts there until the entity is measured again. */
  keep(): void {
    this.#receipt.use.added += this.#received
    this.#received = 0
    this.#reserve(-this.#reserved)
  }

  /** It is stored, and counts there, or it is gone. */
  release(): void {
    this.end()
    this.#reserve(-this.#reserved)
  }

  #require(bytes: number): void {
    const { entity, limit, use, beside } = this.#receipt
    // What others have stored since this began counts too.
    const stored = beside + use.stored + use.incoming
    if (stored + bytes > limit) throw quotaExceeded(entity, { stored, limit, bytes })
  }

  #reserve(bytes: number): void {
    this.#receipt.use.incoming += bytes
    this.#reserved += bytes
  }
}
