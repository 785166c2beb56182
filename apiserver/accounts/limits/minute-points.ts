import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { returnPoints } from '../../../db/accounts/minute-counts.ts'
import type { Pool } from '../../../db/pool.ts'
import { LimitError } from './limit-error.ts'
import { pointLimits } from './table.ts'
import { canTake, emptyAllowance, mergeAllowances, type Allowance } from './allowance.ts'

const minuteSeconds = 60
// Beyond the limit, the database is queried at most once in this time. Other processes may have returned points by
// then.
const rejectedMs = 1_000

/**
 * Counts points of entities per minute. The minute starts with the first one. The counts are in the database, so a
 * limit applies to all processes together. A process takes points in blocks. Other processes cannot use the unused
 * points of a block until the minute is over.
 */
export class MinutePoints {
  readonly #pool: Pool
  readonly #name: keyof typeof pointLimits
  /** By limit. The library needs one limiter for each limit. All of them use the same counts. */
  readonly #limiters = new Map<number, RateLimiterPostgres>()
  readonly #allowances = new Map<string, Allowance>()
  /** The running query of each entity. Later requests wait for it. */
  readonly #asking = new Map<string, Promise<void>>()
  #forgetAtMs = 0

  constructor(pool: Pool, name: keyof typeof pointLimits) {
    this.#pool = pool
    this.#name = name
  }

  /** Takes points. @throws {HttpError} 429 when the points of this minute are used up */
  async take(entity: string, perMinute: number, points: number): Promise<void> {
    if (perMinute === Infinity) return
    while (!this.#takeAllowed(entity, perMinute, points)) {
      await (this.#asking.get(entity) ?? this.#ask(entity, perMinute, points))
    }
  }

  /**
   * Corrects the taken points by `more`, which may be negative. A debt is paid at once with the points of this minute.
   * The rest is paid in the next minute, but at most with all points of that minute.
   */
  settle(entity: string, perMinute: number, more: number): void {
    const allowance = this.#allowances.get(entity) ?? { ...emptyAllowance, perMinute, untilMs: performance.now() }
    if (perMinute === Infinity || allowance.perMinute !== perMinute) return
    this.#allowances.set(entity, allowance)
    const isOver = allowance.untilMs <= performance.now()
    const left = isOver ? Math.min(0, allowance.left) - Math.max(0, more) : allowance.left - more
    allowance.left = Math.max(left, -perMinute)
    if (allowance.left < 0 && !this.#asking.has(entity)) this.#collect(entity, perMinute)
    this.#returnExcess(entity, allowance)
  }

  /** The points left in this minute, as far as this process knows, and when all of them are available again. */
  look(entity: string, perMinute: number): { remaining: number; resetMs: number } {
    const allowance = this.#allowances.get(entity)
    const resetMs = allowance?.perMinute === perMinute ? allowance.untilMs - performance.now() : 0
    if (!allowance || resetMs <= 0) return { remaining: perMinute, resetMs: 0 }
    return { remaining: Math.max(0, allowance.left + allowance.elsewhere), resetMs }
  }

  /** If this fails, the next query collects the debt. */
  #collect(entity: string, perMinute: number): void {
    void this.#ask(entity, perMinute, 0).catch(() => {})
  }

  #takeAllowed(entity: string, perMinute: number, points: number): boolean {
    const allowance = this.#allowances.get(entity)
    if (!allowance || !canTake(allowance, { perMinute, points })) return false
    allowance.left -= points
    return true
  }

  async #ask(entity: string, perMinute: number, points: number): Promise<void> {
    const asking = this.#refill(entity, perMinute, points)
    this.#asking.set(entity, asking)
    try {
      await asking
    } finally {
      this.#asking.delete(entity)
    }
  }

  /** @throws {HttpError} 429 if not enough points are left */
  async #refill(entity: string, perMinute: number, points: number): Promise<void> {
    this.#forgetEnded()
    const known = this.#allowances.get(entity) ?? emptyAllowance
    const nowMs = performance.now()
    if (known.perMinute === perMinute && known.rejectedUntilMs > nowMs) throw this.#tooMany(entity, known)
    const owed = Math.max(0, -known.left)
    const wanted = Math.min(Math.max(this.#blockOf(perMinute), points + owed), Math.max(1, perMinute))
    const taken = await this.#consume(entity, perMinute, wanted)
    // In the meantime, other requests may have returned points or added to the debt.
    const allowance = mergeAllowances(this.#allowances.get(entity) ?? emptyAllowance, taken)
    this.#allowances.set(entity, allowance)
    if (taken.left === wanted || allowance.left >= points) return
    this.#returnExcess(entity, allowance)
    allowance.rejectedUntilMs = Math.min(allowance.untilMs, performance.now() + rejectedMs)
    throw this.#tooMany(entity, allowance)
  }

  async #consume(entity: string, perMinute: number, wanted: number): Promise<Allowance> {
    const limiter = this.#limiterOf(perMinute)
    const build = ({ msBeforeNext }: RateLimiterRes, left: number, elsewhere: number) => {
      const untilMs = performance.now() + msBeforeNext
      return { perMinute, left, elsewhere, untilMs, rejectedUntilMs: 0 }
    }
    try {
      const result = await limiter.consume(entity, wanted)
      return build(result, wanted, result.remainingPoints)
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      // The block exceeds the limit, but the points that were left before it belong to this process now. The rest of
      // the block is returned.
      const left = Math.max(0, perMinute - (error.consumedPoints - wanted))
      const allowance = build(error, left, 0)
      this.#return(entity, wanted - left, allowance)
      return allowance
    }
  }

  /** Returns points beyond a block, so that other processes can use them. */
  #returnExcess(entity: string, allowance: Allowance): void {
    const excess = allowance.left - this.#blockOf(allowance.perMinute)
    if (excess <= 0 || allowance.untilMs <= performance.now()) return
    allowance.left -= excess
    allowance.elsewhere += excess
    this.#return(entity, excess, allowance)
  }

  /** Runs in the background. Points that cannot be returned are lost until the minute is over. */
  #return(entity: string, points: number, { untilMs }: Allowance): void {
    const key = `${pointLimits[this.#name].keyPrefix}:${entity}`
    const expiresAtMs = Date.now() + untilMs - performance.now()
    void returnPoints(this.#pool, { key, points, expiresAtMs }).catch(() => {})
  }

  #tooMany(entity: string, { perMinute, untilMs }: Allowance): LimitError {
    const seconds = Math.max(1, Math.ceil((untilMs - performance.now()) / 1_000))
    const detail = `${entity} has reached its limit ${this.#name} (${perMinute}). Send this request again in ${seconds} s.`
    return new LimitError(this.#name, detail, { retryAfterSeconds: seconds })
  }

  /** Runs once a minute and removes entities without requests. Debts are kept for one more minute. */
  #forgetEnded(): void {
    const nowMs = performance.now()
    if (nowMs < this.#forgetAtMs) return
    const minuteMs = minuteSeconds * 1_000
    this.#forgetAtMs = nowMs + minuteMs
    for (const [entity, { left, untilMs }] of this.#allowances)
      if (untilMs + (left < 0 ? minuteMs : 0) <= nowMs) this.#allowances.delete(entity)
  }

  #blockOf(perMinute: number): number {
    return Math.max(1, Math.floor(perMinute / pointLimits[this.#name].blocksPerLimit))
  }

  #limiterOf(perMinute: number): RateLimiterPostgres {
    const known = this.#limiters.get(perMinute)
    if (known) return known
    const limiter = new RateLimiterPostgres({
      storeClient: this.#pool,
      storeType: 'pool',
      schemaName: 'auth',
      tableName: 'request_counts',
      tableCreated: true,
      keyPrefix: pointLimits[this.#name].keyPrefix,
      points: perMinute,
      duration: minuteSeconds,
    })
    this.#limiters.set(perMinute, limiter)
    return limiter
  }
}
