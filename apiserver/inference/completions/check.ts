import { unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { argumentFields } from '../chat/chat-fields.ts'
import { asksForUsage, withUsage } from '../reply/chat-meter.ts'
import { pickArguments } from '../chat/engine-request.ts'
import { findLargeGrammars } from '../chat/grammar.ts'
import type { CheckedBody, EngineTarget } from '../passthrough.ts'
import { omitUnpassed } from '../omit-members.ts'
import { findUnsupported } from '../chat/unsupported-fields.ts'
import { completionFields } from './fields.ts'
import { countPrompts, countSampled, rejectLargeReply } from './reply-size.ts'
import { parseCompletionRequest, type CompletionRequest } from './schema.ts'

// Each sample of a prompt occupies a slot of the engine.
const maxSamples = 1024
// The log-probabilities of the sampled tokens alone, and the ids.
const wantedByTraining = { logprobs: 0, return_token_ids: true }
// More tokens than the choice of an engine depends on.
const maxPrefixTokens = 1024

/** Checks a completion, and returns how it is changed for engines. @throws {HttpError} 422 with the issues */
export function checkCompletion(document: JsonDocument): CheckedBody {
  const request = parseCompletionRequest(document)
  const issues = [
    ...findUnsupported(request, completionFields, []),
    ...findUnsupported(request.vllm_xargs, argumentFields, ['vllm_xargs']),
    ...findLargeGrammars(request, document.members),
    ...findManySamples(request),
    ...findComparison(request),
  ]
  if (issues.length > 0) throw unprocessable(...issues)
  return {
    model: request.model ?? undefined,
    cacheSalt: request.cache_salt,
    hidesUsage: asksForUsage(request),
    prefix: readPrefix(request.prompt),
    sequences: countPrompts(request) * (request.n ?? 1),
    maxSampledTokens: countSampled(request),
    change: (target) => changeCompletion(request, target),
    rejectLargeReply: (basis) => rejectLargeReply({ request, isTrained: isTrained(request, basis), ...basis }),
  }
}

/** Of several prompts, the first one. An engine that has cached it has usually cached the others too. */
function readPrefix(prompt: CompletionRequest['prompt']): string {
  if (typeof prompt === 'string') return prompt
  const [first = ''] = prompt
  if (typeof first === 'number') return JSON.stringify(prompt.slice(0, maxPrefixTokens))
  return typeof first === 'string' ? first : JSON.stringify(first.slice(0, maxPrefixTokens))
}

/** For models that are trained here, it also asks for the members that training needs, as chats do. */
function changeCompletion(request: CompletionRequest, target: EngineTarget): Record<string, unknown> {
  const wanted = isTrained(request, target) ? Object.entries(wantedByTraining) : []
  return {
    ...omitUnpassed(request, completionFields),
    ...Object.fromEntries(wanted.filter(([name]) => !Object.hasOwn(request, name))),
    ...pickArguments(request),
    ...(asksForUsage(request) ? { stream_options: withUsage(request.stream_options) } : {}),
    cache_salt: target.cacheSalt,
    model: target.engineName,
  }
}

/** With ids, engines would leave the prompt out of an echo. */
function isTrained({ echo }: CompletionRequest, { trainable }: Pick<EngineTarget, 'trainable'>): boolean {
  return trainable && echo !== true
}

function findManySamples(request: CompletionRequest): ValidationIssue[] {
  const [prompts, samples] = [countPrompts(request), request.n ?? 1]
  if (prompts * samples <= maxSamples) return []
  const msg = `A completion should have at most ${maxSamples} samples of all prompts, not ${prompts} times ${samples}`
  return [{ loc: ['body', 'prompt'], msg, type: 'too_long' }]
}

/** Engines return all samples that they make, so that `best_of` may only be equal to `n`. */
function findComparison({ best_of: best = null, n = null }: CompletionRequest): ValidationIssue[] {
  if (best === null || best === (n ?? 1)) return []
  return [
    valueError(['body', 'best_of'], 'engines do not choose among samples: use n and logprobs, and choose yourself'),
  ]
}
