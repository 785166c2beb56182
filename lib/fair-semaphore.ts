import { WaitingLine } from './waiting-line.ts'

/** The key that requests a permit, and how long it may wait. */
export interface PermitRequest {
  key: string
  /** While two keys wait, a key of twice the weight gets twice as many permits. */
  weight?: number
  /** The most permits that this key may hold, if that is less than `permitsPerKey`. */
  maxOfKey?: number | null
  /** How many permits the request holds, 1 by default. It is granted when one is free, so that it does not wait longer. */
  permits?: number
  /** Without it, the request waits without a limit. */
  timeoutMs?: number
  /** Aborts the wait. */
  signal?: AbortSignal
}

/** The key and the weight of whoever waits, where several wait for the same resource. */
export type Turn = Required<Pick<PermitRequest, 'key' | 'weight'>>

interface Waiter extends Turn {
  permits: number
  maxOfKey: number
  grant: () => void
  leave: () => void
  /** Removes the timer and the abort listener. */
  stopWaiting: () => void
}

/** A key that holds permits or waits. */
interface ActiveKey {
  weight: number
  virtualTime: number
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
  #shared = 0
  /** A key without permits has no entry. */
  readonly #held = new Map<string, number>()
  /** Waiters by key. A key without waiters has no entry. */
  readonly #waiting = new Map<string, WaitingLine<Waiter>>()
  readonly #active = new Map<string, ActiveKey>()
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

  /**
   * Changes the number of permits. If more are held, the next released ones are not granted again.
   *
   * @param shared of how many permits each key gets its share at once, although others hold all of them
   */
  resize(permits: number, shared = 0): void {
    this.#free += permits - this.#permits
    this.#permits = permits
    this.#shared = shared
    this.#grantAll()
  }

  /** Acquires a permit if one is free for the key now. Call the returned function once to release it. */
  tryAcquire({ key, weight = 1, maxOfKey, permits = 1 }: PermitRequest): (() => void) | undefined {
    const request = { key, weight, permits, maxOfKey: this.#limitOf(maxOfKey) }
    return this.#isFreeFor(request) ? this.#hold(request) : undefined
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

  #isFreeFor({ key, weight, maxOfKey }: Pick<Waiter, 'key' | 'weight' | 'maxOfKey'>): boolean {
    const held = this.heldBy(key)
    return held < maxOfKey && (this.#free > 0 || held < this.#shareOf(key, weight))
  }

  #shareOf(key: string, weight: number): number {
    if (this.#shared === 0) return 0
    let others = 0
    for (const [name, active] of this.#active) if (name !== key) others += active.weight
    return Math.floor((this.#shared * weight) / (others + weight))
  }

  #hold({ key, weight, permits }: Pick<Waiter, 'key' | 'weight' | 'permits'>): () => void {
    this.#free -= permits
    this.#held.set(key, this.heldBy(key) + permits)
    this.#now = Math.max(this.#now, this.#active.get(key)?.virtualTime ?? 0)
    this.#active.set(key, { weight, virtualTime: this.#now + permits / weight })
    let held = true
    return () => {
      if (held) this.#release(key, permits)
      held = false
    }
  }

  #release(key: string, permits: number): void {
    this.#free += permits
    const rest = this.heldBy(key) - permits
    if (rest > 0) this.#held.set(key, rest)
    else this.#held.delete(key)
    this.#forgetIdle(key)
    this.#grantAll()
  }

  #forgetIdle(key: string): void {
    if (!this.#held.has(key) && !this.#waiting.has(key)) this.#active.delete(key)
    if (this.#free === this.#permits) this.#now = 0
  }

  async #wait({ key, weight = 1, maxOfKey, permits = 1, timeoutMs, signal }: PermitRequest): Promise<() => void> {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const grant = () => resolve(this.#hold({ key, weight, permits }))
    const waiter = this.#enqueue({ key, weight, permits, maxOfKey: this.#limitOf(maxOfKey), grant })
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
    const { virtualTime = this.#now } = this.#active.get(given.key) ?? {}
    this.#active.set(given.key, { weight: given.weight, virtualTime })
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

  #grantAll(): void {
    for (let next = this.#findNext(); next; next = this.#findNext()) {
      this.#remove(next)
      next.grant()
    }
  }

  /** The first waiter of the key with the least virtual time, among the keys that may hold one more permit. */
  #findNext(): Waiter | undefined {
    if (this.#free <= 0 && this.#shared === 0) return undefined
    const timeOf = ({ key }: Waiter) => this.#active.get(key)!.virtualTime
    let found: Waiter | undefined
    for (const { first } of this.#waiting.values()) {
      if (!first || !this.#isFreeFor(first)) continue
      if (!found || timeOf(first) < timeOf(found)) found = first
    }
    return found
  }
}
