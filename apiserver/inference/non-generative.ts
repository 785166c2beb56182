import { valueError, type ValidationIssue } from '../../lib/http/http-error.ts'
import { templateFields } from './chat/chat-fields.ts'
import type { ChatRequest } from './chat/chat-schema.ts'
import { findUnsupportedMedia } from './chat/media.ts'
import { findUnsupported } from './chat/unsupported-fields.ts'
import type { CheckedBody } from './passthrough.ts'

interface NonGenerativeRequest {
  model?: string | null
  cache_salt?: string | null
}

/** The checked body of a request for which an engine samples no tokens. */
export function describeNonGenerative(
  request: NonGenerativeRequest,
  change: CheckedBody['change'],
  sequences = 1,
): CheckedBody {
  return {
    model: request.model ?? undefined,
    cacheSalt: request.cache_salt,
    hidesUsage: false,
    // Engines cache nothing of it for later requests.
    prefix: '',
    sequences,
    maxSampledTokens: 0,
    change,
    // The request bounds the size of the reply, or only the engine knows it. A reply is bounded while it is read.
    rejectLargeReply: () => {},
  }
}

interface TextOrChat {
  messages?: ChatRequest['messages'] | null
  chat_template_kwargs?: object | null
}

/** Finds the issues of a request's text, which is a chat or in the member `name`. */
export function findTextIssues<Name extends string>(
  request: TextOrChat & { [name in Name]?: unknown },
  name: Name,
): ValidationIssue[] {
  const { messages = null, chat_template_kwargs: variables } = request
  const isOne = ((request[name] ?? null) === null) !== (messages === null)
  return [
    ...findUnsupported(variables, templateFields, ['chat_template_kwargs']),
    ...findUnsupportedMedia({ messages: messages ?? [] }),
    ...(isOne ? [] : [valueError(['body', name], `send either ${name} or messages`)]),
  ]
}
