import type { RequestState } from '../accounts/context.ts'
import type { RequestLimiter } from '../accounts/limits/request-limiter.ts'
import type { TokenLimiter } from '../accounts/limits/token-limiter.ts'

interface Limiters {
  requestLimiter: RequestLimiter
  tokenLimiter: TokenLimiter
}

/** Sets headers with the remaining limits, in the form that OpenAI's clients expect. */
export function setLimitHeaders(
  answer: { set: (name: string, value: string) => void },
  { requestLimiter, tokenLimiter }: Limiters,
  { caller, limits }: RequestState,
): void {
  const requests = requestLimiter.describe(caller.entity, limits.requestsPerMinute)
  for (const [name, value] of requests) answer.set(name, value)
  for (const [name, value] of tokenLimiter.describe(caller)) answer.set(name, value)
}
