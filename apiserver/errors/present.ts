/** Writes an error in the form that the clients of a path read. */
export type PresentError = (error: HttpError, path: string) => object

/** FastAPI's form, which clients of the training interface read. */
export function presentDetail({ detail }: HttpError): object {
  return { detail }
}

/** weave's form; issues are listed as FastAPI does. */
export function presentReason({ detail, more }: HttpError): object {
  return typeof detail === 'string' ? { reason: detail, ...more } : { detail }
}

/** FastAPI's form, and OpenAI's beside it on paths where OpenAI's clients look. */
export function presentForClient(error: HttpError, path: string): object {
  return isOpenAiPath(path) ? { detail: error.detail, error: presentOpenAi(error) } : presentDetail(error)
}

// ART's client would take a member `error` for the whole answer; the other two are ours alone.
const ownPaths = /^\/v1\/(preview|health|system-check)(\/|$)/

/** OpenAI's own paths, and unknown ones among them: what its clients ask for that is not here. */
function isOpenAiPath(path: string): boolean {
  return path.startsWith('/v1/') && !ownPaths.test(path)
}

/** OpenAI's form: one sentence, and the place of the first issue. */
function presentOpenAi({ code, status, detail }: HttpError) {
  const [issue] = typeof detail === 'string' ? [] : detail
  const message = typeof detail === 'string' ? detail : summarize(detail)
  return { message, type: nameType(status), param: (issue && namePlace(issue)) ?? null, code }
}

function summarize(issues: ValidationIssue[]): string {
  const [first] = issues
  if (!first) return 'The request is invalid.'
  const place = namePlace(first)
  const rest = issues.length === 1 ? '' : ` (${issues.length - 1} more in detail)`
  return `${place === undefined ? '' : `${place}: `}${first.msg}${rest}`
}

/** Where an issue is, without the part of the request. */
function namePlace({ loc }: ValidationIssue): string | undefined {
  return loc.slice(1).join('.') || undefined
}

const types: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

function nameType(status: number): string {
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}
import type { HttpError, ValidationIssue } from '../../lib/http/http-error.ts'
