import type { ErrorDefinition } from './error-table.ts'
import { httpErrors } from './errors.ts'

// A client can send any text as a name.
const maxShownLength = 200

/** One thing that is wrong with a request: where, what, and its type in pydantic's terms. */
export interface ValidationIssue {
  loc: string[]
  msg: string
  type: string
}

interface HttpErrorOptions {
  headers?: Record<string, string>
  /** The client may send the request again after this many seconds. */
  retryAfterSeconds?: number
  /** Additional members of the answer. */
  more?: Record<string, unknown>
  cause?: unknown
}

/** An error answer: its row in the table of errors, the specific problem, and additional headers. */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly code: string
  readonly status: number
  readonly detail: string | ValidationIssue[]
  readonly headers: Record<string, string>
  readonly more: Record<string, unknown>

  constructor(
    { code, status, sentence }: ErrorDefinition,
    detail: string | ValidationIssue[] = sentence,
    { headers = {}, retryAfterSeconds, more = {}, cause }: HttpErrorOptions = {},
  ) {
    super(typeof detail === 'string' ? detail : detail.map(describeIssue).join('; '), { cause })
    this.code = code
    this.status = status
    this.detail = detail
    this.headers = retryAfterSeconds === undefined ? headers : { ...headers, 'Retry-After': String(retryAfterSeconds) }
    this.more = more
  }
}

function describeIssue({ loc, msg }: ValidationIssue): string {
  return `${loc.join('.')}: ${msg}`
}

/** The answer is the same for what does not exist and for what belongs to somebody else. */
export function notFound(what: string, id?: string): HttpError {
  const name = id === undefined ? what : `${what} ${id.slice(0, maxShownLength)}`
  return new HttpError(httpErrors.not_found, `${name} not found`)
}

/** A request that is invalid at one or more paths. */
export function unprocessable(...issues: ValidationIssue[]): HttpError {
  return new HttpError(httpErrors.invalid_request, issues)
}

/** A value that breaks a rule outside of the schema. */
export function valueError(loc: string[], reason: string): ValidationIssue {
  return { loc, msg: `Value error, ${reason}`, type: 'value_error' }
}
