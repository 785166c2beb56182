/**
 * 400, for a value that has the right type and cannot be used: an invalid reference, an empty condition, a broken rule.
 */
export function badRequest(reason: string): HttpError {
  return new HttpError(errors.bad_request, reason)
}

/** 403, for an unknown field or name: the interface answers these with their own status. */
export function invalidField(reason: string): HttpError {
  return new HttpError(errors.unknown_field, reason)
}

/** 403, for every project of another entity. The answer does not show whether the project exists. */
export function forbiddenProject(): HttpError {
  return new HttpError(errors.foreign_entity)
}

/** 404. With `deleted_at` in `more`, clients do not retry. */
export function missing(reason: string, more: Record<string, unknown> = {}): HttpError {
  return new HttpError(errors.not_found, reason, { more })
}

/** 409: the client computed another digest than the server. */
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

/** Whether an error is caused by the values of the request, not by memory, quotas or an unavailable part. */
export function isAboutValues(error: unknown): error is HttpError {
  return error instanceof HttpError && aboutValues.has(error.code)
}
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from '../errors/table.ts'
