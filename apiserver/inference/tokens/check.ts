import { HttpError, unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { errors } from '../../errors/table.ts'
import { templateFields, type Fields } from '../chat/chat-fields.ts'
import { leaveOut } from '../leave-out.ts'
import { findUnsupportedMedia } from '../chat/media.ts'
import type { CheckedBody } from '../passthrough.ts'
import { findUnsupported } from '../chat/unsupported-fields.ts'
import { detokenizeFields, tokenizeFields } from './fields.ts'
import { parseDetokenizeRequest, parseTokenizeRequest, type TokenizeRequest } from './schema.ts'

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
  const issues = [
    ...findUnsupported(request, tokenizeFields, []),
    ...findUnsupported(request.chat_template_kwargs, templateFields, ['chat_template_kwargs']),
    ...findUnsupportedMedia({ messages: request.messages ?? [] }),
    ...findOther(request),
  ]
  if (issues.length > 0) throw unprocessable(...issues)
  return describe(request, tokenizeFields)
}

/** Checks a request for the text of tokens, in the same way. */
export function checkDetokenize(document: JsonDocument): CheckedBody {
  rejectLarge(document)
  return describe(parseDetokenizeRequest(document), detokenizeFields)
}

/** No usage is counted, because nothing is sampled. */
function describe(request: { model?: string | null }, fields: Fields): CheckedBody {
  return {
    model: request.model ?? undefined,
    cacheSalt: undefined,
    hidesUsage: false,
    // Engines cache nothing of it for later requests.
    prefix: '',
    maxSampledTokens: 0,
    change: ({ engineName }) => ({ ...leaveOut(request, fields), model: engineName }),
    rejectLargeReply: () => {},
  }
}

function rejectLarge({ bytes }: JsonDocument): void {
  if (bytes.length <= maxBytes) return
  throw new HttpError(
    errors.body_too_large,
    `A request about tokens should have at most ${maxBytes} bytes. Send parts.`,
  )
}

function findOther({ prompt = null, messages = null }: TokenizeRequest): ValidationIssue[] {
  if ((prompt === null) !== (messages === null)) return []
  return [valueError(['body', 'prompt'], 'send either prompt or messages')]
}
