/** Writes an error in the format of a path's clients. */
export type PresentError = (error: HttpError, path: string) => object

/** FastAPI's format, for clients of the training interface. */
export function presentDetail({ detail }: HttpError): object {
  return { detail }
}

/** weave's format. Issues are listed as in FastAPI. */
export function presentReason({ detail, more }: HttpError): object {
  return typeof detail === 'string' ? { reason: detail, ...more } : { detail }
}

/** FastAPI's format. On paths of OpenAI's clients, OpenAI's format is added. */
export function presentForClient(error: HttpError, path: string): object {
  return isOpenAiPath(path) ? { detail: error.detail, error: presentOpenAi(error) } : presentDetail(error)
}

// ART's client would treat a member `error` as the whole answer. The other two paths are only ours.
const ownPaths = /^\/v1\/(preview|health|ready|system-check)(\/|$)/

/** Whether a path is OpenAI's. This includes unknown paths below /v1, which OpenAI's clients may request. */
function isOpenAiPath(path: string): boolean {
  return path.startsWith('/v1/') && !ownPaths.test(path)
}

/** OpenAI's format: one sentence, and the location of the first issue. */
function presentOpenAi({ code, status, detail }: HttpError) {
  const [issue] = typeof detail === 'string' ? [] : detail
  const message = typeof detail === 'string' ? detail : summarize(detail)
  return { message, type: nameType(status), param: (issue && namePath(issue)) ?? null, code }
}

function summarize(issues: ValidationIssue[]): string {
  const [first] = issues
  if (!first) return 'The request is invalid.'
  const path = namePath(first)
  const rest = issues.length === 1 ? '' : ` (${issues.length - 1} more in detail)`
  return `${path === undefined ? '' : `${path}: `}${first.msg}${rest}`
}

/** The location of an issue, without the part of the request. */
function namePath({ loc }: ValidationIssue): string | undefined {
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
