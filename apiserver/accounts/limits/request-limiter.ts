import type { Pool } from '../../../db/pool.ts'
import { MinutePoints } from './minute-points.ts'
import { rateLimitHeaders, type RateLimitHeaders } from './rate-limit-headers.ts'

/**
 * Limits the requests of entities per minute. Limits below 400 are exact. For a larger limit, each process may leave
 * half a percent unused.
 */
export class RequestLimiter {
  readonly #points: MinutePoints

  constructor(pool: Pool) {
    this.#points = new MinutePoints(pool, { name: 'requests_per_minute', keyPrefix: 'minute', blocksPerLimit: 200 })
  }

  /** Counts a request. @throws {HttpError} 429 beyond the limit */
  take(entity: string, perMinute: number): Promise<void> {
    return this.#points.take(entity, perMinute, 1)
  }

  /** The headers with an entity's limit and the rest of it. Empty without a limit. */
  describe(entity: string, perMinute: number): RateLimitHeaders {
    return rateLimitHeaders('requests', perMinute, this.#points.look(entity, perMinute))
  }
}
