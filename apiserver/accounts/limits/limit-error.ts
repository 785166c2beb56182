import type { LimitErrorDefinition } from '../../../lib/http/error-table.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { limitErrors } from '../../errors/table.ts'
import { allLimits, type Limit, type LimitName } from './table.ts'

interface LimitErrorOptions {
  /** Instead of that of the limit. */
  error?: LimitErrorDefinition
  retryAfterSeconds?: number
  cause?: unknown
}

/** An answer that a limit has rejected. Its sentence ends with the name of the limit, unless it already has it. */
export class LimitError extends HttpError {
  readonly limit: LimitName

  constructor(limit: LimitName, detail: string, options: LimitErrorOptions = {}) {
    const { error, retryAfterSeconds }: Limit = allLimits[limit]
    const named = detail.includes(limit) ? detail : `${detail} The limit is ${limit}.`
    const seconds = options.retryAfterSeconds ?? retryAfterSeconds
    super({ ...(options.error ?? error ?? limitErrors.server_busy), ofLimit: undefined as never }, named, {
      ...(seconds !== undefined && { retryAfterSeconds: seconds }),
      cause: options.cause,
    })
    this.limit = limit
  }
}
