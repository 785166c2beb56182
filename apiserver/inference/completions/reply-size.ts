import { unprocessable } from '../../../lib/http/http-error.ts'
import { replyLimitBytes } from '../engines/read-engine.ts'
import type { CompletionRequest } from './schema.ts'
import { bytesPerPromptToken, sizePrompts } from '../prompt-size.ts'

// Upper bounds of the JSON: a token's text and its id beside it, and each log-probability.
const bytesPerToken = 16
const bytesPerLogprob = 75
// The number of tokens that engines sample if the request sets none.
const defaultMaxTokens = 16
// The value -1 asks for the whole vocabulary. Engines allow it only if they are configured to.
const wholeVocabulary = 256 * 1024

/** How many tokens a completion may sample at most. */
export function countSampled(request: CompletionRequest): number {
  return countPrompts(request) * (request.max_tokens ?? defaultMaxTokens) * (request.n ?? 1)
}

/** How many prompts a completion has. A list of token ids is one prompt. */
export function countPrompts({ prompt }: Pick<CompletionRequest, 'prompt'>): number {
  return typeof prompt === 'string' || typeof prompt[0] === 'number' ? 1 : prompt.length
}

/** A completion, with the other values that decide how large its complete reply may be. */
export interface CompletionReplyBasis {
  request: CompletionRequest
  /** The size of the request to the engine. */
  bodyBytes: number
  /** Whether the reply has logprobs and token ids, unless the client turned them off. */
  isTrained: boolean
}

/**
 * Rejects a completion whose complete reply could be larger than the limit. Streams are sent at the client's pace and
 * are not bounded.
 *
 * @throws {HttpError} 422
 */
export function rejectLargeReply({ request, bodyBytes, isTrained }: CompletionReplyBasis): void {
  if (request.stream === true) return
  const samples = request.n ?? 1
  const { logprobs = isTrained ? 0 : null } = request
  const sampled = countPrompts(request) * (request.max_tokens ?? defaultMaxTokens) * sizeToken(logprobs)
  const promptTokens = bodyBytes / bytesPerPromptToken
  const echoed = request.echo === true ? bodyBytes + promptTokens * sizeToken(logprobs) : 0
  const { return_token_ids: hasIds = isTrained } = request
  const prompts = promptTokens * sizeToken(request.prompt_logprobs) + (hasIds ? sizePrompts(promptTokens, samples) : 0)
  const bytes = samples * (sampled + echoed) + prompts
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
