import { HttpError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { findError } from '../../errors/table.ts'

/** The place in the request for a response of members of the chat. */
const names: Readonly<Record<string, string[]>> = {
  max_completion_tokens: ['max_output_tokens'],
  max_tokens: ['max_output_tokens'],
  reasoning_effort: ['reasoning', 'effort'],
  response_format: ['text', 'format'],
}

/**
 * Changes the places in a chat's error into places of the request that the chat was built from.
 *
 * @param places of the chat's messages in the request
 */
export function placeError(error: unknown, places: readonly string[][]): unknown {
  if (!(error instanceof HttpError) || typeof error.detail === 'string') return error
  const { code, headers, more, cause } = error
  return new HttpError(
    findError(code),
    error.detail.map((issue) => ({ ...issue, loc: placeIssue(issue, places) })),
    { headers, more, cause },
  )
}

function placeIssue({ loc }: ValidationIssue, places: readonly string[][]): string[] {
  const [root = 'body', name = '', ...rest] = loc
  if (name !== 'messages') return [root, ...(names[name] ?? (name === '' ? [] : [name])), ...rest]
  const place = places[Number(rest[0])]
  return place ? [root, ...place, ...rest.slice(1)] : [root, 'input']
}
