import { backoffMs, type Backoff } from '../backoff.ts'
import type { Logger } from '../log.ts'

const defaultBackoff: Backoff = { baseMs: 200, maxMs: 30_000 }

/** What the work on a key may ask for: to be looked at again after a while, whatever happens until then. */
export interface Requeue {
  afterMs: number
}

interface QueueOptions {
  name: string
  work: (key: string) => Promise<Requeue | void>
  log: Logger
  /** keys worked on side by side */
  concurrency?: number
  /** the wait after failures of a key */
  backoff?: Backoff
}

/**
 * A queue of keys. A key waits in it at most once and is never worked on twice at a time; one that is added while it is
 * worked on is worked on again. Work that throws is repeated with a growing, jittered delay of that key alone.
 */
export class WorkQueue {
  readonly #options: Required<QueueOptions>
  readonly #waiting = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #timers = new Map<string, { dueAt: number; timer: NodeJS.Timeout }>()
  readonly #failures = new Map<string, number>()
  #closed = false

  constructor(options: QueueOptions) {
    this.#options = { concurrency: 1, backoff: defaultBackoff, ...options }
  }

  /** Keys that wait or are worked on now; delayed ones do not count. */
  get size(): number {
    return this.#waiting.size + this.#running.size
  }

  add(key: string): void {
    if (this.#closed) return
    this.#waiting.add(key)
    this.#fill()
  }

  /**
   * Adds the key, unless it is worked on, or its last work failed and is going to be repeated: a routine look leaves the
   * backoff alone.
   */
  addRoutinely(key: string): void {
    if (!this.#failures.has(key) && !this.#running.has(key)) this.add(key)
  }

  /** Adds the key after a time; the earlier of two delays counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return
    const dueAt = performance.now() + delayMs
    const present = this.#timers.get(key)
    if (present && present.dueAt <= dueAt) return
    clearTimeout(present?.timer)
    const timer = setTimeout(() => {
      this.#timers.delete(key)
      this.add(key)
    }, delayMs)
    this.#timers.set(key, { dueAt, timer })
  }

  /** Takes nothing more and waits for the work that runs. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    this.#waiting.clear()
    await Promise.all(this.#running.values())
  }

  #fill(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= this.#options.concurrency) return
      if (this.#running.has(key)) continue
      this.#waiting.delete(key)
      this.#running.set(key, this.#run(key))
    }
  }

  async #run(key: string): Promise<void> {
    // The key is in #running before its work starts.
    await Promise.resolve()
    try {
      const requeue = await this.#options.work(key)
      this.#failures.delete(key)
      if (requeue) this.addAfter(key, requeue.afterMs)
    } catch (error) {
      this.#retryLater(key, error)
    }
    this.#running.delete(key)
    if (!this.#closed) this.#fill()
  }

  #retryLater(key: string, error: unknown): void {
    const { name, log, backoff } = this.#options
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    const delayMs = backoffMs(failures, backoff)
    log.warn({ queue: name, key, failures, retryInMs: Math.round(delayMs), error }, 'work failed, will be repeated')
    this.addAfter(key, delayMs)
  }
}
