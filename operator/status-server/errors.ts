import { defineErrors } from '../../lib/http/error-table.ts'
import { httpErrors } from '../../lib/http/errors.ts'

const { body_too_large, internal_error, invalid_request, unknown_path } = httpErrors

/** All errors that the status server sends to trainers. docs/errors.md is generated from them. */
export const errors = {
  body_too_large,
  invalid_request,
  internal_error: { ...internal_error, sentence: 'internal error' },
  unknown_path: { ...unknown_path, sentence: 'no such route' },
  ...defineErrors({
    invalid_token: {
      status: 401,
      sentence: 'a service-account token is needed: Authorization: Bearer TOKEN',
      retry: 'no',
    },
    unknown_job: { status: 404, sentence: 'no such job', retry: 'no' },
    fenced: {
      status: 409,
      sentence: 'this attempt no longer holds the job: stop, and drop its work',
      retry: 'no',
    },
    database_unavailable: {
      status: 503,
      sentence: 'the database is not available now: try again',
      retry: 'retry-after',
    },
    issuer_unavailable: {
      status: 503,
      sentence: "the keys of the tokens' issuer are not known yet",
      retry: 'retry-after',
    },
  }),
}
