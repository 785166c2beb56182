import { backoffMs, type Backoff } from '../backoff.ts'
import type { Logger } from '../log.ts'
import { Durations } from '../metrics/durations.ts'

const defaultBackoff: Backoff = { baseMs: 200, maxMs: 30_000 }

/** A result of work: the key must be handled again after this time, whatever happens until then. */
export interface Requeue {
  afterMs: number
  /** Other work comes first then. */
  isRoutine?: boolean
}

interface QueueOptions {
  name: string
  work: (key: string) => Promise<Requeue | void>
  log: Logger
  /** How many keys are handled at once. */
  concurrency?: number
  /** The wait after failures of a key. */
  backoff?: Backoff
}

/**
 * A queue of keys. A key waits at most once, and is never handled twice at the same time. A key that is added during
 * its work is handled again. Work that throws is repeated after a growing, jittered delay, which only affects its key.
 * Keys of routine checks never stand before others: they take what others leave of the concurrency, and one of them is
 * handled beside it.
 */
export class WorkQueue {
  /** How long keys waited before their work began. */
  readonly waits = new Durations()
  /** How long work took. */
  readonly works = new Durations()
  readonly #options: Required<QueueOptions>
  /** When each waiting key was added, by `performance.now()`. */
  readonly #waiting = new Map<string, number>()
  /** The same for keys of routine checks. A key is in one of both. */
  readonly #routine = new Map<string, number>()
  readonly #running = new Map<string, Promise<void>>()
  /** The running keys of routine checks. */
  readonly #looking = new Set<string>()
  readonly #timers = new Map<string, { dueAt: number; isRoutine: boolean; timer: NodeJS.Timeout }>()
  readonly #failures = new Map<string, number>()
  #errorCount = 0
  #closed = false

  constructor(options: QueueOptions) {
    this.#options = { concurrency: 1, backoff: defaultBackoff, ...options }
  }

  get name(): string {
    return this.#options.name
  }

  /** The number of keys that wait, without delayed ones. */
  get depth(): number {
    return this.#waiting.size + this.#routine.size
  }

  /** How often work failed. */
  get errorCount(): number {
    return this.#errorCount
  }

  /** The number of keys that wait or are being handled, without delayed ones. */
  get size(): number {
    return this.depth + this.#running.size
  }

  add(key: string): void {
    if (this.#closed) return
    this.#routine.delete(key)
    if (!this.#waiting.has(key)) this.#waiting.set(key, performance.now())
    this.#fill()
  }

  /**
   * Adds the key behind those that were added otherwise, unless it waits, is being handled, or waits for a retry after a
   * failure: a routine check does not change the backoff.
   */
  addRoutinely(key: string): void {
    if (this.#closed || this.#failures.has(key) || this.#running.has(key)) return
    if (this.#waiting.has(key) || this.#routine.has(key)) return
    this.#routine.set(key, performance.now())
    this.#fill()
  }

  /** Adds the key after a time. The earlier of two delays counts, but a routine check never takes the place of other work. */
  addAfter(key: string, delayMs: number, { isRoutine = false } = {}): void {
    if (this.#closed) return
    const dueAt = performance.now() + delayMs
    const present = this.#timers.get(key)
    if (present && (present.isRoutine === isRoutine ? present.dueAt <= dueAt : isRoutine)) return
    clearTimeout(present?.timer)
    const timer = setTimeout(() => {
      this.#timers.delete(key)
      if (isRoutine) this.addRoutinely(key)
      else this.add(key)
    }, delayMs)
    this.#timers.set(key, { dueAt, isRoutine, timer })
  }

  /** Accepts no more keys and waits for running work. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    this.#waiting.clear()
    this.#routine.clear()
    await Promise.all(this.#running.values())
  }

  #fill(): void {
    const { concurrency } = this.#options
    for (const [key, addedMs] of this.#waiting) {
      if (this.#running.size - this.#looking.size >= concurrency) break
      if (this.#running.has(key)) continue
      this.#waiting.delete(key)
      this.#start(key, addedMs)
    }
    for (const [key, addedMs] of this.#routine) {
      if (this.#looking.size > 0 && this.#running.size >= concurrency) break
      this.#routine.delete(key)
      this.#looking.add(key)
      this.#start(key, addedMs)
    }
  }

  #start(key: string, addedMs: number): void {
    this.waits.record((performance.now() - addedMs) / 1000)
    this.#running.set(key, this.#run(key))
  }

  async #run(key: string): Promise<void> {
    // The key is in #running before its work starts.
    await Promise.resolve()
    const startMs = performance.now()
    try {
      const requeue = await this.#options.work(key)
      this.#failures.delete(key)
      if (requeue) this.addAfter(key, requeue.afterMs, requeue)
    } catch (error) {
      this.#retryLater(key, error)
    }
    this.works.record((performance.now() - startMs) / 1000)
    this.#running.delete(key)
    this.#looking.delete(key)
    if (!this.#closed) this.#fill()
  }

  #retryLater(key: string, error: unknown): void {
    const { name, log, backoff } = this.#options
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#errorCount++
    const delayMs = backoffMs(failures, backoff)
    log.warn({ queue: name, key, failures, retryInMs: Math.round(delayMs), error }, 'work failed, will be repeated')
    this.addAfter(key, delayMs)
  }
}
