import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../context.ts'
import { MinutePoints } from './minute-points.ts'
import { rateLimitHeaders, type RateLimitHeaders } from './rate-limit-headers.ts'

type TokenOwner = Pick<Caller, 'entity' | 'tokensPerMinute'>

/** What a request is expected to use. */
export interface TokenEstimate {
  promptTokens: number
  /** At most. */
  completionTokens: number
}

// Few replies are longer. What one uses beyond is owed afterwards.
const maxReserved = 16_384

/**
 * Limits the tokens of entities per minute, of prompts and sampled. What a request will use is known when it has ended: an
 * estimate is taken before, and the difference is settled after. An entity exceeds its limit by what runs at once at most.
 */
export class TokenLimiter {
  readonly #points: MinutePoints

  constructor(pool: Pool) {
    this.#points = new MinutePoints(pool, { name: 'tokens_per_minute', keyPrefix: 'tokens', blocksPerLimit: 50 })
  }

  /**
   * Takes the tokens of a request. A request that is larger than the limit takes all of it.
   *
   * @returns says what it has used in the end, once
   * @throws {HttpError} 429 when the minute's tokens do not suffice
   */
  async reserve(
    { entity, tokensPerMinute: limit }: TokenOwner,
    estimate: TokenEstimate,
  ): Promise<(used: number) => void> {
    if (limit === Infinity) return () => {}
    const expected = estimate.promptTokens + Math.min(estimate.completionTokens, maxReserved)
    const reserved = Math.max(1, Math.min(expected, limit))
    await this.#points.take(entity, limit, reserved)
    return (used) => this.#points.settle(entity, limit, used - reserved)
  }

  /** What an entity's limit is, and what is left of it; none without a limit. */
  describe({ entity, tokensPerMinute: limit }: TokenOwner): RateLimitHeaders {
    return rateLimitHeaders('tokens', limit, this.#points.look(entity, limit))
  }
}
