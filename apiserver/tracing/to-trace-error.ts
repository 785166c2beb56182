import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
import { isStatementStopped } from '../../db/unavailable.ts'
import type { Logger } from '../../lib/log.ts'
import { toHttpError } from '../errors/answer-errors.ts'

/**
 * A statement that Postgres stopped is a query that was too expensive, not an outage: clients write their own queries
 * here.
 */
export function toTraceError(error: unknown, log: Logger): HttpError {
  if (!isStatementStopped(error)) return toHttpError(error, log)
  log.warn({ error }, 'statement stopped')
  return new HttpError(errors.query_timeout)
}
