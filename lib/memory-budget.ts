/** Which bound has no room for more bytes: the reservation's, the key's, or the common one of all keys. */
export type BudgetScope = 'reservation' | 'key' | 'all'

/** A budget has no room for more bytes. */
export class BudgetExceeded extends Error {
  override name = 'BudgetExceeded'
  readonly scope: BudgetScope
  readonly maxBytes: number

  constructor(scope: BudgetScope, maxBytes: number) {
    super(`${scope}: at most ${maxBytes} bytes may be reserved`)
    this.scope = scope
    this.maxBytes = maxBytes
  }
}

/** Counts the bytes in memory, of each key and of all. */
export class MemoryBudget {
  readonly maxBytes: number
  readonly maxBytesPerKey: number
  /** The bound if a key has only one reservation. One large request is fine, but must leave some room for others. */
  readonly maxBytesAlone: number
  /** A key without reserved bytes has no entry. */
  readonly #byKey = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
    this.maxBytesPerKey = Math.floor(maxBytes / 4)
    this.maxBytesAlone = Math.floor((maxBytes * 7) / 8)
  }

  /** The reserved bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Creates an empty reservation of a key. */
  open(key: string): MemoryReservation {
    return new MemoryReservation((own, more) => this.#add(key, own, more))
  }

  #add(key: string, own: number, more: number): void {
    const ofKey = (this.#byKey.get(key) ?? 0) + more
    if (more > 0) {
      if (own + more > this.maxBytesAlone) throw new BudgetExceeded('reservation', this.maxBytesAlone)
      const isAlone = ofKey === own + more
      if (!isAlone && ofKey > this.maxBytesPerKey) throw new BudgetExceeded('key', this.maxBytesPerKey)
      if (this.#bytes + more > this.maxBytes) throw new BudgetExceeded('all', this.maxBytes)
    }
    this.#bytes += more
    if (ofKey > 0) this.#byKey.set(key, ofKey)
    else this.#byKey.delete(key)
  }
}

/** The reserved bytes of one piece of work. */
export class MemoryReservation {
  readonly #change: (own: number, more: number) => void
  #own = 0
  #isReleased = false

  constructor(change: (own: number, more: number) => void) {
    this.#change = change
  }

  /** Reserves more bytes. @throws {BudgetExceeded} and then reserves nothing */
  add(bytes: number): void {
    if (this.#isReleased) return
    this.#change(this.#own, bytes)
    this.#own += bytes
  }

  /** Releases some bytes. */
  drop(bytes: number): void {
    this.add(-Math.min(bytes, this.#own))
  }

  /** Releases all bytes. From then on it reserves nothing. */
  release(): void {
    this.drop(this.#own)
    this.#isReleased = true
  }
}
