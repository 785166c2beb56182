import { unprocessable } from '../../../lib/http/http-error.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import type { CheckedBody } from '../passthrough.ts'
import { asksForUsage } from '../reply/chat-meter.ts'
import { parseChatRequest, type ChatRequest } from './chat-schema.ts'
import { changeChat } from './engine-request.ts'
import { convertFunctions } from './function-calls.ts'
import { findLargeGrammars } from './grammar.ts'
import { findUnsupportedMedia } from './media.ts'
import { readPrefix } from './prefix.ts'
import { rejectLargeReply } from './reply-size.ts'
import { findUnsupportedFields } from './unsupported-fields.ts'

/** Checks a chat, and returns how it is changed for engines. @throws {HttpError} 422 with the issues */
export function checkChat(document: JsonDocument): CheckedBody {
  const { chat, changes, issues: mixed } = convertFunctions(parseChatRequest(document))
  const issues = [
    ...mixed,
    ...findUnsupportedFields(chat),
    ...findUnsupportedMedia(chat),
    ...findLargeGrammars(chat, document.members),
  ]
  if (issues.length > 0) throw unprocessable(...issues)
  return {
    model: chat.model ?? undefined,
    cacheSalt: chat.cache_salt,
    hidesUsage: asksForUsage(chat),
    prefix: readPrefix(chat.messages),
    sequences: chat.n ?? 1,
    maxSampledTokens: countSampled(chat),
    change: (target) => ({ ...changeChat(chat, target), ...changes }),
    rejectLargeReply: (basis) => rejectLargeReply({ chat, ...basis }),
  }
}

function countSampled({
  n,
  max_tokens: before,
  max_completion_tokens: length = before,
}: ChatRequest): number | undefined {
  return typeof length === 'number' ? Math.max(0, length) * (n ?? 1) : undefined
}
