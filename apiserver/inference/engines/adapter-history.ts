// An engine keeps an adapter until others have taken its place. Of one that was not used for longer, it may be gone.
const rememberedMs = 10 * 60_000
// Pods times adapters: what is forgotten too early is loaded once more.
const defaultMaxEntries = 10_000

/** Which pods have answered for which adapters lately; the oldest entries are forgotten first. */
export class AdapterHistory {
  readonly #maxEntries: number
  /** When a pod last answered for an adapter, the longest ago first. */
  readonly #answeredAt = new Map<string, number>()

  constructor(maxEntries = defaultMaxEntries) {
    this.#maxEntries = maxEntries
  }

  has(pod: string, adapter: string): boolean {
    const answeredAtMs = this.#answeredAt.get(`${pod} ${adapter}`)
    return answeredAtMs !== undefined && performance.now() - answeredAtMs < rememberedMs
  }

  record(pod: string, adapter: string): void {
    const key = `${pod} ${adapter}`
    this.#answeredAt.delete(key)
    this.#answeredAt.set(key, performance.now())
    if (this.#answeredAt.size <= this.#maxEntries) return
    const [oldest] = this.#answeredAt.keys()
    if (oldest !== undefined) this.#answeredAt.delete(oldest)
  }
}
