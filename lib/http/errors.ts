import { defineErrors } from './error-table.ts'

/** The errors that this kit makes itself. Each table of a server contains them. */
export const httpErrors = defineErrors({
  truncated_body: { status: 400, sentence: 'The body ended too early.', retry: 'yes' },
  unknown_path: { status: 404, sentence: 'There is no such path, or not with this method.', retry: 'no' },
  not_found: { status: 404, sentence: 'It does not exist, or belongs to another entity.', retry: 'no' },
  method_not_allowed: { status: 405, sentence: 'Method Not Allowed', retry: 'no' },
  idempotency_key_reused: {
    status: 409,
    sentence: 'This Idempotency-Key was used for another request; send a new one.',
    retry: 'no',
  },
  request_in_progress: {
    status: 409,
    sentence: 'A request with this Idempotency-Key is still under way; ask again for its answer.',
    retry: 'retry-after',
  },
  body_too_large: { status: 413, sentence: 'The body is larger than an operation accepts.', retry: 'no' },
  unsupported_media_type: {
    status: 415,
    sentence: 'The body is of a type or a compression that the operation does not accept.',
    retry: 'no',
  },
  range_not_satisfiable: { status: 416, sentence: 'The range lies behind the end of the file.', retry: 'no' },
  invalid_request: {
    status: 422,
    sentence: 'The request is invalid; `detail` says where, what is wrong, and of what kind it is.',
    retry: 'no',
  },
  internal_error: { status: 500, sentence: 'Internal server error', retry: 'yes' },
  method_not_implemented: { status: 501, sentence: 'Not Implemented', retry: 'no' },
})
