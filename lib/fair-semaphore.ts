import { WaitingLine } from './waiting-line.ts'

/** The key that asks for a permit, and how long it may wait. */
export interface PermitRequest {
  key: string
  /** A key of twice the weight gets twice the turns while both wait. */
  weight?: number
  /** How many permits this key may hold, where that is less than the share of every key. */
  maxOfKey?: number | null
  /** Without one it waits as long as it takes. */
  timeoutMs?: number
  /** Ends the wait. */
  signal?: AbortSignal
}

interface Waiter extends Required<Pick<PermitRequest, 'key' | 'weight'>> {
  maxOfKey: number
  grant: () => void
  leave: () => void
  /** Takes back what would end the wait. */
  stopWaiting: () => void
}

/** No permit came free in time. */
export class PermitTimeout extends Error {
  override name = 'PermitTimeout'
}

/**
 * A counting semaphore that several keys share. A key holds at most a share of the permits. Permits that come free go to
 * the waiting keys by turns: a key that asks for many waits for itself only.
 *
 * The turns are those of stride scheduling (Waldspurger and Weihl, 1995): the waiting key with the least virtual time is
 * next, and each permit moves its time on by 1 / weight.
 */
export class FairSemaphore {
  #permits: number
  readonly #permitsPerKey: number
  /** A key without permits has no entry. */
  readonly #held = new Map<string, number>()
  /** By key; a key without waiters has no entry. */
  readonly #waiting = new Map<string, WaitingLine<Waiter>>()
  /** Of the keys that hold permits or wait. */
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

  /** Whether nobody holds a permit or waits for one. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#waiting.size === 0
  }

  /** Changes how many permits there are. Of fewer than are held, the next ones that come back are not given out again. */
  resize(permits: number): void {
    this.#free += permits - this.#permits
    this.#permits = permits
    while (this.#free > 0 && this.#grantNext());
  }

  /** Takes a permit if one is free for the key at once; the function that is returned gives it back, once. */
  tryAcquire({ key, weight = 1, maxOfKey }: PermitRequest): (() => void) | undefined {
    return this.#isFreeFor(key, this.#limitOf(maxOfKey)) ? this.#hold({ key, weight }) : undefined
  }

  /**
   * Takes a permit, for which it waits; the function that is returned gives it back, once.
   *
   * @throws {PermitTimeout} when `timeoutMs` have passed, and the reason of `signal` when it is aborted
   */
  async acquire(request: PermitRequest): Promise<() => void> {
    return this.tryAcquire(request) ?? this.#wait(request)
  }

  /** Does work while it holds a permit. @throws {PermitTimeout} and what the work throws */
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

  /** False when nobody waits who may have one. */
  #grantNext(): boolean {
    const next = this.#findNext()
    if (!next) return false
    this.#remove(next)
    next.grant()
    return true
  }

  /** The first waiter of the key with the least virtual time, of those that may hold one more. */
  #findNext(): Waiter | undefined {
    let found: Waiter | undefined
    for (const { first } of this.#waiting.values()) {
      if (!first || !this.#isFreeFor(first.key, first.maxOfKey)) continue
      if (!found || this.#virtualTime.get(first.key)! < this.#virtualTime.get(found.key)!) found = first
    }
    return found
  }
}
