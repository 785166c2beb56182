import { HttpError } from '../../lib/http/http-error.ts'
import { httpErrors } from '../../lib/http/errors.ts'
import { findNearestPaths, type KnownPath } from '../../lib/http/nearest-paths.ts'

// A client can request any path.
const maxShownLength = 200

/** Paths that people expect, and where their operations are here. */
const elsewhere: [RegExp, string][] = [
  [/^\/v1\/traces\/?$/, 'Spans of OpenTelemetry go to /traces/otel/v1/traces.'],
  [/^\/(chat|models|preview|health)\b/, 'Paths begin with /v1: add /v1 to the end of the base URL.'],
  [
    /^\/v1\/(fine_tuning|files|batches|uploads)\b/,
    'Create training jobs with POST /v1/preview/training-jobs and /v1/preview/sft-training-jobs.',
  ],
  [/^\/traces\b/, 'GET /traces/docs lists all operations.'],
]

/** Says that a path is unknown, where to look, and which paths of this method are nearest. */
export function describeUnknownPath({ method, path }: KnownPath, known: readonly KnownPath[]): string {
  const advice = elsewhere.find(([pattern]) => pattern.test(path))?.[1] ?? 'GET /docs lists all operations.'
  const nearest = findNearestPaths(known, { method, path }).map((each) => `${method} ${each}`)
  const hint = nearest.length === 0 ? '' : ` The nearest: ${nearest.join(', ')}.`
  return `${method} ${path.slice(0, maxShownLength)} does not exist. ${advice}${hint}`
}

/** The error for a path without an operation. */
export function unknownPath(wanted: KnownPath, known: readonly KnownPath[]): HttpError {
  return new HttpError(httpErrors.unknown_path, describeUnknownPath(wanted, known))
}
