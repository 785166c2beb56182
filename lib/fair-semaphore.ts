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
}

interface Waiter extends Required<Pick<PermitRequest, 'key' | 'weight'>> {
  maxOfKey: number
  grant: () => void
  leave: () => void
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
  readonly #permits: number
  readonly #permitsPerKey: number
  /** A key without permits has no entry. */
  readonly #held = new Map<string, number>()
  /** By key; a key without waiters has no entry. */
  readonly #waiting = new Map<string, WaitingLine<Waiter>>()
  /** Of the keys that hold permits or wait. */
  readonly #virtualTime = new Map<string, number>()
  #now = 0
  #free: number

  constructor({ permits, permitsPerKey = permits }: { permits: number; permitsPerKey?: number }) {
    this.#permits = permits
    this.#permitsPerKey = permitsPerKey
    this.#free = permits
  }

  /** How many permits a key holds. */
  heldBy(key: string): number {
    return this.#held.get(key) ?? 0
  }

  /** Takes a permit if one is free for the key at once; the function that is returned gives it back, once. */
  tryAcquire({ key, weight = 1, maxOfKey }: PermitRequest): (() => void) | undefined {
    return this.#isFreeFor(key, this.#limitOf(maxOfKey)) ? this.#hold({ key, weight }) : undefined
  }

  /**
   * Takes a permit, for which it waits; the function that is returned gives it back, once.
   *
   * @throws {PermitTimeout} when `timeoutMs` have passed
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

  #wait({ key, weight = 1, maxOfKey, timeoutMs }: PermitRequest): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        clearTimeout(timer)
        resolve(this.#hold({ key, weight }))
      }
      const waiter = this.#enqueue({ key, weight, maxOfKey: this.#limitOf(maxOfKey), grant })
      const giveUp = () => {
        this.#remove(waiter)
        reject(new PermitTimeout(`no permit within ${timeoutMs} ms`))
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs)
    })
  }

  #enqueue(given: Omit<Waiter, 'leave'>): Waiter {
    const line = this.#waiting.get(given.key) ?? new WaitingLine()
    this.#waiting.set(given.key, line)
    if (!this.#virtualTime.has(given.key)) this.#virtualTime.set(given.key, this.#now)
    const waiter = { ...given, leave: () => leave() }
    const leave = line.push(waiter)
    return waiter
  }

  #remove({ key, leave }: Waiter): void {
    leave()
    if (!this.#waiting.get(key)?.first) this.#waiting.delete(key)
    this.#forgetIdle(key)
  }

  #grantNext(): void {
    const next = this.#findNext()
    if (!next) return
    this.#remove(next)
    next.grant()
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
