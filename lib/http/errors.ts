import { defineErrors } from './error-table.ts'

/** The errors of lib/http itself. The table of each server contains them. */
export const httpErrors = defineErrors({
  malformed_request: { status: 400, sentence: 'The request is not valid HTTP/1.1.', retry: 'no' },
  truncated_body: { status: 400, sentence: 'The body ended too early.', retry: 'yes' },
  unknown_path: { status: 404, sentence: 'This path does not exist, or not with this method.', retry: 'no' },
  not_found: { status: 404, sentence: 'The resource does not exist, or belongs to another entity.', retry: 'no' },
  method_not_allowed: { status: 405, sentence: 'Method Not Allowed', retry: 'no' },
  request_timeout: { status: 408, sentence: 'The request took too long to arrive.', retry: 'yes' },
  idempotency_key_reused: {
    status: 409,
    sentence: 'This Idempotency-Key belongs to another request. Send a new key.',
    retry: 'no',
  },
  request_in_progress: {
    status: 409,
    sentence: 'A request with this Idempotency-Key is still in progress. Send this request again to get its answer.',
    retry: 'retry-after',
  },
  body_too_large: { status: 413, sentence: 'The body is larger than the operation accepts.', retry: 'no' },
  unsupported_media_type: {
    status: 415,
    sentence: 'The operation does not accept the type or the compression of the body.',
    retry: 'no',
  },
  range_not_satisfiable: { status: 416, sentence: 'The range begins after the end of the file.', retry: 'no' },
  invalid_request: {
    status: 422,
    sentence: 'The request is invalid; `detail` says where, what is wrong, and of what kind it is.',
    retry: 'no',
  },
  headers_too_large: {
    status: 431,
    sentence: 'The request line and the headers have more than 16 KiB.',
    retry: 'no',
  },
  internal_error: { status: 500, sentence: 'Internal server error', retry: 'yes' },
  method_not_implemented: { status: 501, sentence: 'Not Implemented', retry: 'no' },
})
