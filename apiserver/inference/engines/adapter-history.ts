import type { LoadedAdapters } from './loaded-adapters.ts'

// An engine keeps an adapter until it needs the memory for others. An adapter that was not used for longer than this
// may have been unloaded.
const rememberedMs = 10 * 60_000
// An answer so soon after the last one changes nothing.
const unchangedMs = 1_000
/** What pods have said that they have loaded. */
type Loaded = Pick<LoadedAdapters, 'has'>

// Pods times adapters. If an entry is dropped too early, an adapter is loaded once more.
const defaultMaxEntries = 10_000

/**
 * Which pods have which adapters: they say that it is loaded, or they have recently answered for it. The oldest answers
 * are dropped first.
 */
export class AdapterHistory {
  readonly #loaded: Loaded
  readonly #maxEntries: number
  /** When a pod last answered for an adapter, oldest first. */
  readonly #answeredAt = new Map<string, number>()

  constructor(loaded: Loaded, maxEntries = defaultMaxEntries) {
    this.#loaded = loaded
    this.#maxEntries = maxEntries
  }

  has(pod: string, adapter: string): boolean {
    if (this.#loaded.has(pod, adapter)) return true
    const answeredAtMs = this.#answeredAt.get(`${pod} ${adapter}`)
    return answeredAtMs !== undefined && performance.now() - answeredAtMs < rememberedMs
  }

  record(pod: string, adapter: string): void {
    const key = `${pod} ${adapter}`
    const nowMs = performance.now()
    if (nowMs - (this.#answeredAt.get(key) ?? -Infinity) < unchangedMs) return
    this.#answeredAt.delete(key)
    this.#answeredAt.set(key, nowMs)
    if (this.#answeredAt.size <= this.#maxEntries) return
    const [oldest] = this.#answeredAt.keys()
    if (oldest !== undefined) this.#answeredAt.delete(oldest)
  }
}
