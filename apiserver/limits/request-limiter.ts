import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Pool } from '../../db/pool.ts'
import { Refusal } from '../refusal.ts'

const minuteSeconds = 60

/**
 * Counts the requests of entities that have a limit, per minute from the first one on. The counts lie in the database, so
 * a limit is exact however many processes answer; entities without one cost nothing.
 */
export class RequestLimiter {
  readonly #pool: Pool
  /** By limit: the library's limiters have one each, on the same counts. */
  readonly #limiters = new Map<number, RateLimiterPostgres>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** @throws {Refusal} 429 when the minute's requests are used up */
  async take(entity: string, perMinute: number): Promise<void> {
    try {
      await this.#limiterOf(perMinute).consume(entity)
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      const seconds = Math.max(1, Math.ceil(error.msBeforeNext / 1_000))
      const detail = `${entity} may make ${perMinute} requests a minute; ask again in ${seconds} s.`
      throw new Refusal(429, detail, { 'Retry-After': String(seconds) })
    }
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
      // Who is over the limit is refused from memory: a flood costs no writes.
      inMemoryBlockOnConsumed: perMinute + 1,
    })
    this.#limiters.set(perMinute, limiter)
    return limiter
  }
}
