import { HttpError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { findError } from '../../errors/table.ts'

/** The path in the request for a response of each member of the chat. */
const names: Readonly<Record<string, string[]>> = {
  max_completion_tokens: ['max_output_tokens'],
  max_tokens: ['max_output_tokens'],
  reasoning_effort: ['reasoning', 'effort'],
  response_format: ['text', 'format'],
}

/**
 * Changes the paths in a chat's error into paths of the request that the chat was built from.
 *
 * @param paths of the chat's messages in the request
 */
export function translateError(error: unknown, paths: readonly string[][]): unknown {
  if (!(error instanceof HttpError) || typeof error.detail === 'string') return error
  const { code, headers, more, cause } = error
  return new HttpError(
    findError(code),
    error.detail.map((issue) => ({ ...issue, loc: translatePath(issue, paths) })),
    { headers, more, cause },
  )
}

function translatePath({ loc }: ValidationIssue, paths: readonly string[][]): string[] {
  const [root = 'body', name = '', ...rest] = loc
  if (name !== 'messages') return [root, ...(names[name] ?? (name === '' ? [] : [name])), ...rest]
  const path = paths[Number(rest[0])]
  return path ? [root, ...path, ...rest.slice(1)] : [root, 'input']
}
