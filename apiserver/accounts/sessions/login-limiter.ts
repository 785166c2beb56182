import { RateLimiterMemory } from 'rate-limiter-flexible'
import { HttpError } from '../../../lib/http/http-error.ts'
import { errors, limitErrors } from '../../errors/table.ts'
import { LimitError } from '../limits/limit-error.ts'
import { otherLimits } from '../limits/table.ts'

const { most } = otherLimits.wrong_logins
const minuteSeconds = 60

/** Counts wrong keys and codes of logins by the sender's address, in this process. */
export class LoginLimiter {
  readonly #wrong = new RateLimiterMemory({ points: most, duration: minuteSeconds })

  /** Counts a wrong one. @throws {HttpError} 401, and 429 after too many */
  async reject(address: string): Promise<never> {
    const { consumedPoints, msBeforeNext } = await this.#wrong.penalty(address)
    if (consumedPoints <= most) throw new HttpError(errors.invalid_login)
    const retryAfterSeconds = Math.ceil(msBeforeNext / 1_000)
    throw new LimitError('wrong_logins', limitErrors.login_rate_exceeded.sentence, { retryAfterSeconds })
  }
}
