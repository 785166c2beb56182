/** A budget has no room for more bytes. */
export class BudgetExceeded extends Error {
  override name = 'BudgetExceeded'
  /** Whether the key has used up its own share, and not all keys together the whole. */
  readonly isOfKey: boolean
  readonly maxBytes: number

  constructor({ isOfKey, maxBytes }: { isOfKey: boolean; maxBytes: number }) {
    super(`${isOfKey ? 'a key' : 'all keys together'} may reserve ${maxBytes} bytes`)
    this.isOfKey = isOfKey
    this.maxBytes = maxBytes
  }
}

/** The bytes that are in memory at once, of all keys and of each, up to a quarter of all. */
export class MemoryBudget {
  readonly maxBytes: number
  readonly maxBytesPerKey: number
  /** A key without any has no entry. */
  readonly #byKey = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes: number, maxBytesPerKey = Math.floor(maxBytes / 4)) {
    this.maxBytes = maxBytes
    this.maxBytesPerKey = maxBytesPerKey
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
      // A key's only reservation may have more than the share: one large request is no flood.
      const isAlone = ofKey === own + more
      if (!isAlone && ofKey > this.maxBytesPerKey)
        throw new BudgetExceeded({ isOfKey: true, maxBytes: this.maxBytesPerKey })
      if (this.#bytes + more > this.maxBytes) throw new BudgetExceeded({ isOfKey: false, maxBytes: this.maxBytes })
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
