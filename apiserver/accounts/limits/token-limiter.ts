import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../context.ts'
import { MinutePoints } from './minute-points.ts'

type TokenOwner = Pick<Caller, 'entity' | 'tokensPerMinute'>

/** The tokens that a request is expected to use. */
export interface TokenEstimate {
  promptTokens: number
  /** The maximum. */
  completionTokens: number
}

/** Takes the real use of a request. */
type Settle = (used: number) => void
const settleNothing: Settle = () => {}

// Few replies are longer. The tokens beyond this become a debt afterwards.
const maxReserved = 16_384

/**
 * Limits the prompt and completion tokens of entities per minute. The use of a request is only known at its end: an
 * estimate is taken before, and the difference is settled after. An entity can exceed its limit by at most its
 * concurrent requests.
 */
export class TokenLimiter {
  readonly #points: MinutePoints

  constructor(pool: Pool) {
    this.#points = new MinutePoints(pool, 'tokens_per_minute')
  }

  /**
   * Takes the tokens of a request. A request larger than the limit takes all of it.
   *
   * @returns a function that settles the actual usage. Call it once at the end
   * @throws {HttpError} 429 if not enough tokens are left in this minute
   */
  async reserve({ entity, tokensPerMinute: limit }: TokenOwner, estimate: TokenEstimate): Promise<Settle> {
    if (limit === Infinity) return settleNothing
    const expected = estimate.promptTokens + Math.min(estimate.completionTokens, maxReserved)
    const reserved = Math.max(1, Math.min(expected, limit))
    await this.#points.take(entity, limit, reserved)
    return (used) => this.#points.settle(entity, limit, used - reserved)
  }

  /** As `MinutePoints.look` does. */
  look({ entity, tokensPerMinute }: TokenOwner): ReturnType<MinutePoints['look']> {
    return this.#points.look(entity, tokensPerMinute)
  }
}
