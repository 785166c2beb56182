import { unprocessable } from '../../../lib/http/http-error.ts'
import { replyLimitBytes } from '../engines/read-engine.ts'
import type { CompletionRequest } from './schema.ts'
import { bytesPerPromptToken } from '../prompt-size.ts'

// At most, as JSON: a token's text and id, its log-probability, and each of those beside it.
const bytesPerToken = 16
const bytesPerLogprob = 75
// What engines sample when nobody says how much.
const defaultMaxTokens = 16
// What -1 asks for: a large vocabulary. Engines allow it only where it is configured.
const wholeVocabulary = 256 * 1024

/** How many tokens a completion may sample at most. */
export function countSampled(request: CompletionRequest): number {
  return countPrompts(request) * (request.max_tokens ?? defaultMaxTokens) * (request.n ?? 1)
}

/** How many prompts a completion has: token ids are one. */
export function countPrompts({ prompt }: Pick<CompletionRequest, 'prompt'>): number {
  return typeof prompt === 'string' || typeof prompt[0] === 'number' ? 1 : prompt.length
}

/**
 * Rejects a completion whose complete reply could be larger than the limit. Streams go at the client's pace.
 *
 * @param bodyBytes of the request to the engine
 * @throws {HttpError} 422
 */
export function rejectLargeReply(request: CompletionRequest, bodyBytes: number): void {
  if (request.stream === true) return
  const samples = request.n ?? 1
  const sampled = countPrompts(request) * (request.max_tokens ?? defaultMaxTokens) * sizeToken(request.logprobs)
  const promptTokens = bodyBytes / bytesPerPromptToken
  const echoed = request.echo === true ? bodyBytes + promptTokens * sizeToken(request.logprobs) : 0
  const bytes = samples * (sampled + echoed) + promptTokens * sizeToken(request.prompt_logprobs)
  if (bytes > replyLimitBytes) throw tooLarge(bytes)
}

function sizeToken(logprobs: number | null | undefined): number {
  if (logprobs === undefined || logprobs === null) return bytesPerToken
  return bytesPerToken + bytesPerLogprob * (1 + (logprobs === -1 ? wholeVocabulary : Math.max(0, logprobs)))
}

function tooLarge(bytes: number) {
  const msg =
    `The reply could have ${Math.ceil(bytes)} bytes; the limit is ${replyLimitBytes}. ` +
    'Lower max_tokens, n, logprobs, prompt_logprobs or the number of prompts, or request a stream'
  return unprocessable({ loc: ['body', 'max_tokens'], msg, type: 'value_error' })
}
