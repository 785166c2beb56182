/** A value that nothing can be done with: bad references, empty conditions, broken rules. */
export function badRequest(reason: string): HttpError {
  return new HttpError(errors.bad_request, reason)
}

/** A field or name that does not exist; the interface has a status of its own for it. */
export function invalidField(reason: string): HttpError {
  return new HttpError(errors.unknown_field, reason)
}

/** The one answer to all projects of other entities, whether they exist or not. */
export function forbiddenProject(): HttpError {
  return new HttpError(errors.foreign_entity)
}

/** Not there; `more` may hold `deleted_at`, after which clients do not ask again. */
export function missing(reason: string, more: Record<string, unknown> = {}): HttpError {
  return new HttpError(errors.not_found, reason, { more })
}

/** The digest that the client has computed is not the one that the server computes. */
export function digestMismatch(reason: string): HttpError {
  return new HttpError(errors.digest_mismatch, reason)
}

export function tooLarge(): HttpError {
  return new HttpError(errors.body_too_large, 'Request too large')
}

const aboutValues = new Set(
  [
    errors.bad_request,
    errors.unknown_field,
    errors.foreign_entity,
    errors.not_found,
    errors.digest_mismatch,
    errors.body_too_large,
  ].map(({ code }) => code),
)

/** Whether an error is about what the request names, and not about memory, quotas or a part that is away. */
export function isAboutValues(error: unknown): error is HttpError {
  return error instanceof HttpError && aboutValues.has(error.code)
}
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
