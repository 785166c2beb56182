import { RateLimiterMemory } from 'rate-limiter-flexible'
import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'

// Keys and codes cannot be guessed, so a right one always counts: all clients behind a proxy have one address.
const maxWrongPerMinute = 120
const minuteSeconds = 60

/** Counts wrong keys and codes of logins by the sender's address, in this process. */
export class LoginLimiter {
  readonly #wrong = new RateLimiterMemory({ points: maxWrongPerMinute, duration: minuteSeconds })

  /** Counts a wrong one. @throws {HttpError} 401, and 429 after too many */
  async reject(address: string): Promise<never> {
    const { consumedPoints, msBeforeNext } = await this.#wrong.penalty(address)
    if (consumedPoints <= maxWrongPerMinute) throw new HttpError(errors.invalid_login)
    const retryAfterSeconds = Math.ceil(msBeforeNext / 1_000)
    throw new HttpError(errors.login_rate_exceeded, undefined, { retryAfterSeconds })
  }
}
