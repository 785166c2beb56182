import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Pool } from '../../../db/pool.ts'

const minuteSeconds = 60
// A process takes this part of a limit from the database at once, and lets so many requests through before it asks again.
// What it does not use of it is lost to the others until the minute is over.
const batchesPerLimit = 200

/** Requests of an entity that this process may let through without asking. */
interface Allowance {
  perMinute: number
  left: number
  untilMs: number
}

/**
 * Counts the requests of entities per minute, from the first one on. The counts lie in the database, so a limit holds
 * however many processes answer: one below 400 is exact, of a larger one each process may keep half a percent unused.
 */
export class RequestLimiter {
  readonly #pool: Pool
  /** By limit: the library's limiters have one each, on the same counts. */
  readonly #limiters = new Map<number, RateLimiterPostgres>()
  readonly #allowances = new Map<string, Allowance>()
  /** The query under way, by entity. Requests that come in meanwhile wait for it. */
  readonly #asking = new Map<string, Promise<Allowance>>()
  #forgetAtMs = 0

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** @throws {HttpError} 429 when the minute's requests are used up */
  async take(entity: string, perMinute: number): Promise<void> {
    if (perMinute === Infinity) return
    while (!this.#takeAllowed(entity, perMinute)) {
      await (this.#asking.get(entity) ?? this.#ask(entity, perMinute))
    }
  }

  #takeAllowed(entity: string, perMinute: number): boolean {
    const allowance = this.#allowances.get(entity)
    if (!allowance || allowance.left === 0 || allowance.untilMs <= performance.now()) return false
    // Another limit counts from here on.
    if (allowance.perMinute !== perMinute) return false
    allowance.left--
    return true
  }

  async #ask(entity: string, perMinute: number): Promise<void> {
    const asking = this.#consume(entity, perMinute)
    this.#asking.set(entity, asking)
    try {
      this.#forgetEnded()
      this.#allowances.set(entity, await asking)
    } finally {
      this.#asking.delete(entity)
    }
  }

  async #consume(entity: string, perMinute: number): Promise<Allowance> {
    const batch = Math.max(1, Math.floor(perMinute / batchesPerLimit))
    try {
      const { msBeforeNext } = await this.#limiterOf(perMinute).consume(entity, batch)
      return { perMinute, left: batch, untilMs: performance.now() + msBeforeNext }
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      // The whole batch was too much, but what was left before it is ours now. A request that is refused from memory
      // consumes nothing.
      const left = error.consumedPoints === 0 ? 0 : perMinute - (error.consumedPoints - batch)
      if (left <= 0) throw tooMany(entity, perMinute, error.msBeforeNext)
      return { perMinute, left, untilMs: performance.now() + error.msBeforeNext }
    }
  }

  /** Once a minute: entities come and go. */
  #forgetEnded(): void {
    const nowMs = performance.now()
    if (nowMs < this.#forgetAtMs) return
    this.#forgetAtMs = nowMs + minuteSeconds * 1_000
    for (const [entity, { untilMs }] of this.#allowances) if (untilMs <= nowMs) this.#allowances.delete(entity)
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
      keyPrefix: 'minute',
      points: perMinute,
      duration: minuteSeconds,
      // Requests over the limit are refused from memory: a flood costs no writes.
      inMemoryBlockOnConsumed: perMinute + 1,
    })
    this.#limiters.set(perMinute, limiter)
    return limiter
  }
}

function tooMany(entity: string, perMinute: number, waitMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const detail = `${entity} has reached its limit requests_per_minute (${perMinute}). Send this request again in ${seconds} s.`
  return new HttpError(errors.rate_limit_exceeded, detail, { retryAfterSeconds: seconds })
}
