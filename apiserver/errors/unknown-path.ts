import { methods } from '../../crds/methods.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import { httpErrors } from '../../lib/http/errors.ts'

// A client can request any path.
const maxShownLength = 200

/** Paths that people expect, and where their operations are here. */
const elsewhere: [RegExp, string][] = [
  [/^\/v1\/traces\/?$/, 'Spans of OpenTelemetry go to /traces/otel/v1/traces.'],
  [/^\/(chat|models|preview|health)\b/, 'Paths begin with /v1: add /v1 to the end of the base URL.'],
  [
    /^\/v1\/(fine_tuning|files|batches|uploads)\b/,
    `Create training jobs with POST ${Object.values(methods)
      .map(({ path }) => path)
      .join(' or ')}.`,
  ],
  [/^\/traces\b/, 'GET /traces/docs lists all operations.'],
]

/** The error for a path without an operation: where to look for one. */
export function unknownPath({ method, path }: { method: string; path: string }): HttpError {
  const advice = elsewhere.find(([pattern]) => pattern.test(path))?.[1] ?? 'GET /docs lists all operations.'
  return new HttpError(httpErrors.unknown_path, `${method} ${path.slice(0, maxShownLength)} does not exist. ${advice}`)
}
