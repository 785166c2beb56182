import { RateLimiterMemory } from 'rate-limiter-flexible'
import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'

// Keys and codes cannot be guessed. This bounds the queries that wrong ones cost, also if a proxy gives all clients one
// address.
const maxWrongPerMinute = 120
const minuteSeconds = 60

/** Counts wrong keys and codes of logins by the sender's address, in this process. */
export class LoginLimiter {
  readonly #wrong = new RateLimiterMemory({ points: maxWrongPerMinute, duration: minuteSeconds })

  /** @throws {HttpError} 429 after too many wrong ones */
  async check(address: string): Promise<void> {
    const counted = await this.#wrong.get(address)
    if (!counted || counted.consumedPoints < maxWrongPerMinute) return
    const retryAfterSeconds = Math.ceil(counted.msBeforeNext / 1_000)
    throw new HttpError(errors.login_rate_exceeded, undefined, { retryAfterSeconds })
  }

  async countWrong(address: string): Promise<void> {
    await this.#wrong.penalty(address)
  }
}
