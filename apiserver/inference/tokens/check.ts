import { HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { errors } from '../../errors/table.ts'
import type { Fields } from '../chat/chat-fields.ts'
import { omitUnpassed } from '../omit-members.ts'
import type { CheckedBody } from '../passthrough.ts'
import { findUnsupported } from '../chat/unsupported-fields.ts'
import { describeNonGenerative, findTextIssues } from '../non-generative.ts'
import { detokenizeFields, tokenizeFields } from './fields.ts'
import { parseDetokenizeRequest, parseTokenizeRequest } from './schema.ts'

// An engine tokenizes one request at a time. The length of a chat is bounded by its model's context, but the length of
// a text is not.
const maxBytes = 1024 * 1024

/**
 * Checks a request for tokens, and returns how it is changed for engines. @throws {HttpError} 413, and 422 with the
 * issues
 */
export function checkTokenize(document: JsonDocument): CheckedBody {
  rejectLarge(document)
  const request = parseTokenizeRequest(document)
  const issues = [...findUnsupported(request, tokenizeFields, []), ...findTextIssues(request, 'prompt')]
  if (issues.length > 0) throw unprocessable(...issues)
  return describe(request, tokenizeFields)
}

/** Checks a request for the text of tokens, in the same way. */
export function checkDetokenize(document: JsonDocument): CheckedBody {
  rejectLarge(document)
  return describe(parseDetokenizeRequest(document), detokenizeFields)
}

function describe(request: { model?: string | null }, fields: Fields): CheckedBody {
  return describeNonGenerative(request, ({ engineName }) => ({ ...omitUnpassed(request, fields), model: engineName }))
}

function rejectLarge({ bytes }: JsonDocument): void {
  if (bytes.length <= maxBytes) return
  throw new HttpError(
    errors.body_too_large,
    `A request about tokens should have at most ${maxBytes} bytes. Send parts.`,
  )
}
