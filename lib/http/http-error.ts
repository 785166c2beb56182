// A client may send any text in the place of a name.
const maxShownLength = 200

/** One thing that is wrong with a request: where, what, and its kind under the name that pydantic gives it. */
export interface ValidationIssue {
  loc: string[]
  msg: string
  type: string
}

/** An answer that is not a success: its status, what the client is told, and headers that belong to it. */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly status: number
  readonly detail: string | ValidationIssue[]
  readonly headers: Record<string, string>

  constructor(status: number, detail: string | ValidationIssue[], headers: Record<string, string> = {}) {
    super(
      typeof detail === 'string' ? detail : detail.map((fault) => `${fault.loc.join('.')}: ${fault.msg}`).join('; '),
    )
    this.status = status
    this.detail = detail
    this.headers = headers
  }
}

/** The one answer to a missing, malformed, unknown or revoked key. */
export function unauthorized(given: 'no key' | 'unknown key'): HttpError {
  const reasons = {
    'no key': 'this request has none',
    'unknown key': 'the one that was sent is not known here, was revoked, or has expired',
  }
  const detail = `A valid API key is needed, and ${reasons[given]}: send it as "Authorization: Bearer KEY".`
  return new HttpError(401, detail, { 'WWW-Authenticate': 'Bearer' })
}

/** The same for what does not exist and for what belongs to somebody else. */
export function notFound(what: string, id?: string): HttpError {
  const name = id === undefined ? what : `${what} ${id.slice(0, maxShownLength)}`
  return new HttpError(404, `${name} not found`)
}

export function unprocessable(...faults: ValidationIssue[]): HttpError {
  return new HttpError(422, faults)
}

/** Something behind the API is away for now; the client may ask again. */
export function unavailable(detail: string, retryAfterSeconds: number): HttpError {
  return new HttpError(503, detail, { 'Retry-After': String(retryAfterSeconds) })
}
