import { defineErrors, type ErrorDefinition } from '../../lib/http/error-table.ts'
import { httpErrors } from '../../lib/http/errors.ts'

/** Every error that the apiserver answers with. docs/errors.md is made from it. */
export const errors = {
  ...httpErrors,
  ...defineErrors({
    bad_request: { status: 400, sentence: 'The values of the request cannot be worked with.', retry: 'no' },
    unusable_grammar: { status: 400, sentence: 'No engine can use the grammar of this chat.', retry: 'no' },
    missing_api_key: {
      status: 401,
      sentence: 'A valid API key is needed, and this request has none: send it as "Authorization: Bearer KEY".',
      retry: 'no',
    },
    invalid_api_key: {
      status: 401,
      sentence:
        'A valid API key is needed, and the one that was sent is not known here, was revoked, or has expired: send it as "Authorization: Bearer KEY".',
      retry: 'no',
    },
    insufficient_role: { status: 403, sentence: "The key's role is less than the operation needs.", retry: 'no' },
    foreign_entity: {
      status: 403,
      sentence: 'This key does not belong to the entity of the project.',
      retry: 'no',
    },
    unknown_field: { status: 403, sentence: 'A query names a field that does not exist.', retry: 'no' },
    quota_exceeded: { status: 403, sentence: 'The entity stores as many bytes as it may.', retry: 'no' },
    model_not_found: { status: 404, sentence: 'The model of the chat does not exist.', retry: 'no' },
    conflict: { status: 409, sentence: 'The request contradicts what is there.', retry: 'no' },
    digest_mismatch: {
      status: 409,
      sentence: 'The digest that the client expects is not that of the content.',
      retry: 'no',
    },
    request_memory_exceeded: {
      status: 413,
      sentence: 'The request takes more memory than one request may.',
      retry: 'no',
    },
    context_length_exceeded: {
      status: 422,
      sentence: "The chat and the reply do not fit into the model's context.",
      retry: 'no',
    },
    reply_too_large: {
      status: 422,
      sentence: 'The reply is larger than a reply may be; ask for a stream.',
      retry: 'no',
    },
    rate_limit_exceeded: {
      status: 429,
      sentence: 'The entity has sent as many requests as it may in a minute.',
      retry: 'retry-after',
    },
    concurrency_limit_exceeded: {
      status: 429,
      sentence: 'The entity has as much of this under way as it may.',
      retry: 'retry-after',
    },
    job_limit_exceeded: {
      status: 429,
      sentence: 'The entity has as many unfinished training jobs as it may.',
      retry: 'retry-after',
    },
    memory_limit_exceeded: {
      status: 429,
      sentence: 'The requests of the entity that are under way take as much memory as they may.',
      retry: 'retry-after',
    },
    engine_failed: { status: 502, sentence: 'The engine failed to answer.', retry: 'yes' },
    database_unavailable: {
      status: 503,
      sentence: 'The database is not available at the moment.',
      retry: 'retry-after',
    },
    store_unavailable: {
      status: 503,
      sentence: 'The artifact store is not available at the moment.',
      retry: 'retry-after',
    },
    engine_unavailable: {
      status: 503,
      sentence: 'No engine of this model is ready at the moment.',
      retry: 'retry-after',
    },
    server_busy: { status: 503, sentence: 'The server has as much under way as it can.', retry: 'retry-after' },
    answer_expired: {
      status: 503,
      sentence: 'The answer to this Idempotency-Key is kept no longer.',
      retry: 'retry-after',
    },
    query_timeout: {
      status: 504,
      sentence: 'The database took too long for this request: ask for less at once, or narrow it down.',
      retry: 'no',
    },
  }),
}

const byCode: ReadonlyMap<string, ErrorDefinition> = new Map(Object.entries(errors))

/** The error of a code, for one that comes from another thread. */
export function findError(code: string): ErrorDefinition {
  return byCode.get(code) ?? errors.internal_error
}
