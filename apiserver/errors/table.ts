import { defineErrors, defineLimitErrors, type ErrorDefinition } from '../../lib/http/error-table.ts'
import { httpErrors } from '../../lib/http/errors.ts'

/** The errors of the apiserver, except those of limits. docs/errors.md is generated from both. */
export const errors = {
  ...httpErrors,
  ...defineErrors({
    bad_request: { status: 400, sentence: 'The values of the request are invalid.', retry: 'no' },
    // OpenAI's status: clients only look for this code in 400s.
    context_length_exceeded: {
      status: 400,
      sentence: "The chat and the reply do not fit into the model's context.",
      retry: 'no',
    },
    unusable_grammar: { status: 400, sentence: 'No engine can use the grammar of this chat.', retry: 'no' },
    unsupported_operation: {
      status: 400,
      sentence: 'The engine of this model does not answer requests of this kind.',
      retry: 'no',
    },
    missing_api_key: {
      status: 401,
      sentence: 'This request has no API key. Send one as "Authorization: Bearer KEY".',
      retry: 'no',
    },
    invalid_api_key: {
      status: 401,
      sentence: 'The API key is unknown, revoked or expired. Send a valid key as "Authorization: Bearer KEY".',
      retry: 'no',
    },
    session_ended: { status: 401, sentence: 'The session has ended. Log in again.', retry: 'no' },
    invalid_login: {
      status: 401,
      sentence:
        'The API key is unknown, revoked or expired, or the code was used or has expired. Get another link with `npm run console`.',
      retry: 'no',
    },
    cross_site_request: {
      status: 403,
      sentence: 'A session allows only requests from pages of this server. Send other requests with an API key.',
      retry: 'no',
    },
    insufficient_role: { status: 403, sentence: "The key's role does not allow this operation.", retry: 'no' },
    foreign_entity: {
      status: 403,
      sentence: 'This key does not belong to the entity of the project.',
      retry: 'no',
    },
    invalid_link: {
      status: 403,
      sentence: 'The link has expired, or is for another request. Ask for a new one.',
      retry: 'no',
    },
    unknown_field: { status: 403, sentence: 'A query names a field that does not exist.', retry: 'no' },
    quota_exceeded: { status: 403, sentence: 'The entity has reached its limit stored_bytes.', retry: 'no' },
    model_not_found: { status: 404, sentence: 'The model of the chat does not exist.', retry: 'no' },
    conflict: { status: 409, sentence: 'The request conflicts with the current state.', retry: 'no' },
    digest_mismatch: {
      status: 409,
      sentence: 'The digest of the content differs from the one that the client expects.',
      retry: 'no',
    },
    request_memory_exceeded: {
      status: 413,
      sentence: 'The request needs more memory than one request may use.',
      retry: 'no',
    },
    answer_too_large: {
      status: 422,
      sentence: 'The answer would be too large. Request fewer items or fields at once.',
      retry: 'no',
    },
    reply_too_large: {
      status: 422,
      sentence: 'The reply is too large. Request a stream.',
      retry: 'no',
    },
    engine_failed: { status: 502, sentence: 'The engine failed to answer.', retry: 'yes' },
    database_unavailable: {
      status: 503,
      sentence: 'The database is unavailable. Send this request again later.',
      retry: 'retry-after',
    },
    store_unavailable: {
      status: 503,
      sentence: 'The artifact store is unavailable. Send this request again later.',
      retry: 'retry-after',
    },
    webhook_key_missing: {
      status: 503,
      sentence: 'The server has no key to encrypt the secrets of webhooks. An administrator has to add one.',
      retry: 'no',
    },
    base_model_not_made: {
      status: 503,
      sentence: 'The base model cannot be made now. Send this request again later.',
      retry: 'retry-after',
    },
    engine_unavailable: {
      status: 503,
      sentence: 'No engine for this model is ready. Send this request again later.',
      retry: 'retry-after',
    },
    answer_expired: {
      status: 503,
      sentence: 'The answer to this Idempotency-Key has expired. Send this request again to run it anew.',
      retry: 'retry-after',
    },
    query_timeout: {
      status: 504,
      sentence: 'The database took too long to answer this request. Request less data, or narrow the query.',
      retry: 'no',
    },
  }),
}

/** The errors of limits. `LimitError` makes answers of them. */
export const limitErrors = defineLimitErrors({
  rate_limit_exceeded: {
    status: 429,
    sentence: 'The entity has reached its limit requests_per_minute or tokens_per_minute.',
    retry: 'retry-after',
  },
  concurrency_limit_exceeded: {
    status: 429,
    sentence: 'The entity has reached its limit of concurrent operations of this kind.',
    retry: 'retry-after',
  },
  login_rate_exceeded: {
    status: 429,
    sentence: 'Too many wrong keys or codes came from this address.',
    retry: 'retry-after',
  },
  job_limit_exceeded: { status: 429, sentence: 'The entity has reached its limit queued_jobs.', retry: 'retry-after' },
  memory_limit_exceeded: {
    status: 429,
    sentence: 'The requests in progress of the entity use all memory of its share.',
    retry: 'retry-after',
  },
  // Not the 403 of other requests: see retryWhenFull.
  run_storage_full: {
    status: 429,
    sentence: 'The entity has reached its limit stored_bytes. The run goes on when there is room again.',
    retry: 'yes',
  },
  server_busy: { status: 503, sentence: 'The server is busy. Send this request again later.', retry: 'retry-after' },
})

const byCode: ReadonlyMap<string, ErrorDefinition> = new Map(Object.entries(errors))

/** Finds the error of a code, for errors from another thread. */
export function findError(code: string): ErrorDefinition {
  return byCode.get(code) ?? errors.internal_error
}
