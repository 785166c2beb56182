import { HttpError } from '../../lib/http/http-error.ts'

/** A refusal of the tracing group, answered as `{"reason": text}` with what more belongs to it. */
export class TraceRefusal extends HttpError {
  readonly more: Record<string, unknown>

  constructor(status: number, reason: string, more: Record<string, unknown> = {}) {
    super(status, reason)
    this.more = more
  }
}

/** A value that nothing can be done with: bad references, empty conditions, broken rules. */
export function badRequest(reason: string): TraceRefusal {
  return new TraceRefusal(400, reason)
}

/** A field or name that does not exist; the interface has a status of its own for it. */
export function invalidField(reason: string): TraceRefusal {
  return new TraceRefusal(403, reason)
}

/** The one answer to all projects of other entities, whether they exist or not. */
export function forbiddenProject(): TraceRefusal {
  return new TraceRefusal(403, 'This key does not belong to the entity of the project.')
}

/** Not there; `more` may hold `deleted_at`, after which clients do not ask again. */
export function missing(reason: string, more: Record<string, unknown> = {}): TraceRefusal {
  return new TraceRefusal(404, reason, more)
}

/** What the client has computed is not what the server computes. */
export function digestMismatch(reason: string): TraceRefusal {
  return new TraceRefusal(409, reason)
}

export function tooLarge(): TraceRefusal {
  return new TraceRefusal(413, 'Request too large')
}

/** The database has not done it within the time that a statement may take. */
export function tookTooLong(): TraceRefusal {
  return new TraceRefusal(504, 'The database took too long for this request: ask for less at once, or narrow it down.')
}
