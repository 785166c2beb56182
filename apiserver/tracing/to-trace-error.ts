import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
import { isStatementStopped } from '../../db/unavailable.ts'
import type { Logger } from '../../lib/log.ts'
import { toHttpError } from '../errors/answer-errors.ts'

/** Here people ask for what they like: a statement that is stopped is a question that is too large, and no outage. */
export function toTraceError(error: unknown, log: Logger): HttpError {
  if (!isStatementStopped(error)) return toHttpError(error, log)
  log.warn({ error }, 'statement stopped')
  return new HttpError(errors.query_timeout)
}
