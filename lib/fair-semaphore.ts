import { WaitingLine } from './waiting-line.ts'

/** The key that requests a permit, and how long it may wait. */
export interface PermitRequest {
  key: string
  /** While two keys wait, a key of twice the weight gets twice as many permits. */
  weight?: number
  /** The most permits that this key may hold, if that is less than `permitsPerKey`. */
  maxOfKey?: number | null
  /** Without it, the request waits without a limit. */
  timeoutMs?: number
  /** Aborts the wait. */
  signal?: AbortSignal
}

/** The key and the weight of whoever waits, where several wait for the same resource. */
export type Turn = Required<Pick<PermitRequest, 'key' | 'weight'>>

interface Waiter extends Turn {
  maxOfKey: number
  grant: () => void
  leave: () => void
  /** Removes the timer and the abort listener. */
  stopWaiting: () => void
}

/** No permit became free in time. */
export class PermitTimeout extends Error {
  override name = 'PermitTimeout'
}

/**
 * A counting semaphore for several keys. A key holds at most a share of the permits. Freed permits go to the waiting
 * keys in turn, so a key with many requests only delays itself.
 *
 * The order is that of stride scheduling (Waldspurger and Weihl, 1995). The waiting key with the least virtual time is
 * next, and each permit increases its time by 1 / weight.
 */
export class FairSemaphore {
  #permits: number
  readonly #permitsPerKey: number
  /** A key without permits has no entry. */
  readonly #held = new Map<string, number>()
  /** Waiters by key. A key without waiters has no entry. */
  readonly #waiting = new Map<string, WaitingLine<Waiter>>()
  /** Has the keys that hold permits or wait. */
  readonly #virtualTime = new Map<string, number>()
  #now = 0
  #free: number

  constructor({ permits, permitsPerKey = Infinity }: { permits: number; permitsPerKey?: number }) {
    this.#permits = permits
    this.#permitsPerKey = permitsPerKey
    this.#free = permits
  }

  /** How many permits a key holds. */
  heldBy(key: string): number {
    return this.#held.get(key) ?? 0
  }

  /** Whether no key holds a permit or waits for one. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#waiting.size === 0
  }

  /** Changes the number of permits. If more are held, the next released ones are not granted again. */
  resize(permits: number): void {
    this.#free += permits - this.#permits
    this.#permits = permits
    while (this.#free > 0 && this.#grantNext());
  }

  /** Acquires a permit if one is free for the key now. Call the returned function once to release it. */
  tryAcquire({ key, weight = 1, maxOfKey }: PermitRequest): (() => void) | undefined {
    return this.#isFreeFor(key, this.#limitOf(maxOfKey)) ? this.#hold({ key, weight }) : undefined
  }

  /**
   * Waits for a permit. Call the returned function once to release it.
   *
   * @throws {PermitTimeout} after `timeoutMs`, and the reason of `signal` when it is aborted
   */
  async acquire(request: PermitRequest): Promise<() => void> {
    return this.tryAcquire(request) ?? this.#wait(request)
  }

  /** Runs work while holding a permit. @throws {PermitTimeout} and what the work throws */
  async run<T>(request: PermitRequest, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(request)
    try {
      return await work()
    } finally {
      release()
    }
  }

  #limitOf(maxOfKey: number | null | undefined): number {
    return Math.min(maxOfKey ?? this.#permitsPerKey, this.#permitsPerKey)
  }

  #isFreeFor(key: string, limit: number): boolean {
    return this.#free > 0 && this.heldBy(key) < limit
  }

  #hold({ key, weight }: Pick<Waiter, 'key' | 'weight'>): () => void {
    this.#free--
    this.#held.set(key, this.heldBy(key) + 1)
    this.#now = Math.max(this.#now, this.#virtualTime.get(key) ?? 0)
    this.#virtualTime.set(key, this.#now + 1 / weight)
    let held = true
    return () => {
      if (held) this.#release(key)
      held = false
    }
  }

  #release(key: string): void {
    this.#free++
    const rest = this.heldBy(key) - 1
    if (rest > 0) this.#held.set(key, rest)
    else this.#held.delete(key)
    this.#grantNext()
    this.#forgetIdle(key)
  }

  #forgetIdle(key: string): void {
    if (!this.#held.has(key) && !this.#waiting.has(key)) this.#virtualTime.delete(key)
    if (this.#free === this.#permits) this.#now = 0
  }

  async #wait({ key, weight = 1, maxOfKey, timeoutMs, signal }: PermitRequest): Promise<() => void> {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const grant = () => resolve(this.#hold({ key, weight }))
    const waiter = this.#enqueue({ key, weight, maxOfKey: this.#limitOf(maxOfKey), grant })
    const giveUp = (reason: unknown) => {
      this.#remove(waiter)
      reject(reason)
    }
    const onAbort = () => giveUp(signal?.reason)
    const onTimeout = () => giveUp(new PermitTimeout(`no permit within ${timeoutMs} ms`))
    const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    waiter.stopWaiting = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    return promise
  }

  #enqueue(given: Omit<Waiter, 'leave' | 'stopWaiting'>): Waiter {
    const line = this.#waiting.get(given.key) ?? new WaitingLine()
    this.#waiting.set(given.key, line)
    if (!this.#virtualTime.has(given.key)) this.#virtualTime.set(given.key, this.#now)
    const waiter = { ...given, leave: () => leave(), stopWaiting: () => {} }
    const leave = line.push(waiter)
    return waiter
  }

  #remove({ key, leave, stopWaiting }: Waiter): void {
    stopWaiting()
    leave()
    if (!this.#waiting.get(key)?.first) this.#waiting.delete(key)
    this.#forgetIdle(key)
  }

  /** Grants a permit to the next waiter. Returns false if no waiter may have one. */
  #grantNext(): boolean {
    const next = this.#findNext()
    if (!next) return false
    this.#remove(next)
    next.grant()
    return true
  }

  /** The first waiter of the key with the least virtual time, among the keys that may hold one more permit. */
  #findNext(): Waiter | undefined {
    let found: Waiter | undefined
    for (const { first } of this.#waiting.values()) {
      if (!first || !this.#isFreeFor(first.key, first.maxOfKey)) continue
      if (!found || this.#virtualTime.get(first.key)! < this.#virtualTime.get(found.key)!) found = first
    }
    return found
  }
}
