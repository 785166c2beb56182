/** Whose bound has no room for more bytes: one reservation's, its key's, or that of all keys together. */
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

/** The bytes that are in memory at once, of all keys and of each. */
export class MemoryBudget {
  readonly maxBytes: number
  readonly maxBytesPerKey: number
  /** Of a key's only reservation: one large request is no flood, but leaves others some room. */
  readonly maxBytesAlone: number
  /** A key without any has no entry. */
  readonly #byKey = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
    this.maxBytesPerKey = Math.floor(maxBytes / 4)
    this.maxBytesAlone = Math.floor((maxBytes * 7) / 8)
  }

  /** The bytes that are reserved now. */
  get bytes(): number {
    return this.#bytes
  }

  /** A reservation of a key, which holds nothing yet. */
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

/** The bytes of one piece of work. */
export class MemoryReservation {
  readonly #change: (own: number, more: number) => void
  #own = 0
  #isReleased = false

  constructor(change: (own: number, more: number) => void) {
    this.#change = change
  }

  /** Reserves more. @throws {BudgetExceeded} and reserves nothing then */
  add(bytes: number): void {
    if (this.#isReleased) return
    this.#change(this.#own, bytes)
    this.#own += bytes
  }

  /** Gives some back: nobody needs them any more. */
  drop(bytes: number): void {
    this.add(-Math.min(bytes, this.#own))
  }

  /** Gives all back; from then on it reserves nothing. */
  release(): void {
    this.drop(this.#own)
    this.#isReleased = true
  }
}
