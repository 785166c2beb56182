import { type HttpError, unprocessable } from '../../../lib/http/http-error.ts'
import { replyLimitBytes } from '../engines/read-engine.ts'
import type { ReplyBasis } from '../passthrough.ts'
import type { ChatRequest } from './chat-schema.ts'
import { bytesPerId, bytesPerPromptToken, sizePrompts } from '../prompt-size.ts'

// Measured: a sampled token needs 120 bytes with its logprob, and 1,486 with the 20 most likely alternatives. A token
// of the prompt needs 73 and 1,447.
const bytesPerText = 8
const bytesPerSampled = 115
const bytesPerLogprob = 75
// The value -1 asks for the whole vocabulary. Engines allow it only if they are configured to.
const wholeVocabulary = 256 * 1024

/** A chat, with the other values that decide how large its complete reply may be. */
export interface ChatReplyBasis extends ReplyBasis {
  chat: ChatRequest
}

/**
 * Rejects a chat whose complete reply could be larger than the limit. If the chat sets no length, the reply is bounded
 * while it is read. Streams are sent at the client's pace and are not bounded.
 *
 * @throws {HttpError} 422
 */
export function rejectLargeReply(basis: ChatReplyBasis): void {
  const { chat } = basis
  if (chat.stream === true) return
  const maxTokens = chat.max_completion_tokens ?? chat.max_tokens ?? 0
  const bytes = (chat.n ?? 1) * (maxTokens * sizeToken(basis) + sizeEcho(chat)) + sizePrompt(basis)
  if (bytes > replyLimitBytes) throw tooLarge(chat, bytes)
}

function sizeToken({ chat, trainable }: ChatReplyBasis): number {
  const hasIds = asked(chat, 'return_token_ids', trainable)
  const hasLogprobs = asked(chat, 'logprobs', trainable)
  const beside = Math.max(count(chat.top_logprobs), listLength(chat['logprob_token_ids']))
  return bytesPerText + (hasIds ? bytesPerId : 0) + (hasLogprobs ? bytesPerSampled + bytesPerLogprob * beside : 0)
}

/** The size of the last message. `echo` puts it before each choice. */
function sizeEcho({ echo, messages }: ChatRequest): number {
  return echo === true ? JSON.stringify(messages.at(-1)).length : 0
}

function sizePrompt({ chat, bodyBytes, trainable }: ChatReplyBasis): number {
  const tokens = bodyBytes / bytesPerPromptToken
  // As in the engine: with `echo`, the prompt has as many logprobs as the reply.
  const logprobs = chat.prompt_logprobs ?? (chat.echo === true ? chat.top_logprobs : null) ?? null
  const perToken = logprobs === null ? 0 : bytesPerLogprob * (1 + count(logprobs))
  const ids = asked(chat, 'return_token_ids', trainable) ? sizePrompts(tokens, chat.n ?? 1) : 0
  return tokens * perToken + ids + (chat['return_prompt_text'] === true ? bodyBytes : 0)
}

function asked(chat: ChatRequest, name: string, unlessSaid: boolean): boolean {
  return Object.hasOwn(chat, name) ? chat[name] === true : unlessSaid
}

function count(given: number | null | undefined): number {
  return given === -1 ? wholeVocabulary : Math.max(0, given ?? 0)
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

function tooLarge(chat: ChatRequest, bytes: number): HttpError {
  const given = ['max_completion_tokens', 'max_tokens', 'prompt_logprobs'].find((name) => (chat[name] ?? null) !== null)
  const msg =
    `The reply could have ${Math.ceil(bytes)} bytes; the limit is ${replyLimitBytes}. ` +
    'Lower max_tokens, n, top_logprobs or prompt_logprobs, or request a stream'
  return unprocessable({ loc: ['body', given ?? 'echo'], msg, type: 'value_error' })
}
