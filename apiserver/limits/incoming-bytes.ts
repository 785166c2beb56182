import { quotaExceeded } from './quota.ts'

/** Bytes on their way in, by entity; one without any has no entry. */
export type Incoming = Map<string, number>

interface Receipt {
  entity: string
  limit: number
  /** By the entity, when this began. */
  stored: number
  /** 0 for a length that is not known. */
  announced: number
  /** Lets the next body in. */
  giveTurnBack: () => void
}

/** The bytes of one body, which count as stored while they come in. */
export class IncomingBytes {
  readonly #receipt: Receipt
  readonly #incoming: Incoming
  #received = 0
  #reserved = 0

  /** @throws {Refusal} 403 when there is no room for the announced length */
  constructor(receipt: Receipt, incoming: Incoming) {
    this.#receipt = receipt
    this.#incoming = incoming
    this.#reserve(receipt.announced)
  }

  /** Counts what has come. @throws {Refusal} 403 when it is more than the entity may store */
  add(bytes: number): void {
    this.#received += bytes
    if (this.#received > this.#reserved) this.#reserve(this.#received - this.#reserved)
  }

  /** All has come: the next body may. */
  end(): void {
    this.#receipt.giveTurnBack()
  }

  /** It is stored, and counts there, or it is gone. */
  release(): void {
    this.end()
    this.#count(-this.#reserved)
  }

  #reserve(bytes: number): void {
    const { entity, limit, stored } = this.#receipt
    const used = stored + (this.#incoming.get(entity) ?? 0)
    if (used + bytes > limit) throw quotaExceeded(entity, { stored: used, limit, bytes })
    this.#count(bytes)
  }

  #count(bytes: number): void {
    const { entity } = this.#receipt
    const all = (this.#incoming.get(entity) ?? 0) + bytes
    if (all > 0) this.#incoming.set(entity, all)
    else this.#incoming.delete(entity)
    this.#reserved += bytes
  }
}
