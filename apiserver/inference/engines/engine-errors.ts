import { HttpError, unprocessable, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { extractSentence } from './engine-sentence.ts'

// vLLM's message names arguments of its server. Clients and admins do not see these.
const noToolParser = /requires .*--tool-call-parser to be set/
const missingParser: ValidationIssue = {
  loc: ['body', 'tools'],
  msg:
    'This model is served without a tool call parser, so it cannot use tools. Leave out tools, or set ' +
    'spec.engine.toolCallParser of its BaseModel.',
  type: 'value_error',
}
// Python's JSON decoder stops there. So far this happens only in the arguments of tool calls in messages.
const tooDeep = /maximum recursion depth exceeded/
const deepNesting: ValidationIssue = {
  loc: ['body', 'messages'],
  msg: 'The arguments of a tool call are nested too deeply for the engine. Leave out this call, or simplify its arguments.',
  type: 'value_error',
}
const tooLong = /maximum context length|longer than the maximum model length/i
// vLLM answers 400 to an adapter that it has read and cannot load: its rank is too high, or its weights do not fit.
const notLoaded = /^LoRA adapter '.*' was found but could not be loaded\.$/
const cannotLoad = 'The engine cannot load this model. Send this request again later.'
const later = { retryAfterSeconds: 2 }
const fallbackMessage = 'The engine refused the request'
const unsupported =
  'The engine of this model does not answer requests of this kind: engines that generate text make no embeddings, ' +
  'and the other way around. Use another model.'

/**
 * Translates an engine's error into an error for the client. The client gets the engine's own message only if it is
 * about the request.
 *
 * @param body contains the client's name of the model
 */
export function translateEngineError(status: number, body: Uint8Array): HttpError {
  const { message, param, type } = readError(body)
  // The engine has tried the grammar and cannot use it. The form of the request is valid.
  if (status === 400 && type === 'GrammarError') return new HttpError(errors.unusable_grammar, message)
  if (status === 400 || status === 413 || status === 422) {
    if (noToolParser.test(message)) return unprocessable(missingParser)
    // Clients of OpenAI's API look for this code, and shorten the chat. The path in vLLM's error is its own name for
    // the prompt.
    if (tooLong.test(message)) return new HttpError(errors.context_length_exceeded, [describeIssue([], message)])
    if (notLoaded.test(message)) return new HttpError(errors.engine_unavailable, cannotLoad, later)
    return unprocessable(describeIssue(param, message))
  }
  if (status === 500 && tooDeep.test(message)) return unprocessable(deepNesting)
  if (isMissingPath(status, message)) return new HttpError(errors.unsupported_operation, unsupported)
  if (status === 404) return new HttpError(errors.engine_unavailable, cannotLoad, later)
  if (status === 429 || status === 503)
    return new HttpError(errors.engine_unavailable, "The engine's queue is full. Send this request again later.", {
      retryAfterSeconds: 2,
    })
  return new HttpError(errors.engine_failed, 'The engine failed to answer.')
}

function describeIssue(path: string[], msg: string): ValidationIssue {
  return { loc: ['body', ...path], msg, type: 'value_error' }
}

/**
 * vLLM has a path only if the task of its model needs it. For a model that it cannot load, its message is different.
 */
function isMissingPath(status: number, message: string): boolean {
  return status === 501 || (status === 404 && (message === fallbackMessage || message === 'Not Found'))
}

/** vLLM's error is `{"error": {message, type, param, code}}`. `param` is a field, or a path such as `body.a.b`. */
function readError(body: Uint8Array): { message: string; param: string[]; type?: unknown } {
  const fallback = { message: fallbackMessage, param: [] }
  try {
    const { error } = JSON.parse(Buffer.from(body).toString()) as { error?: EngineError }
    if (typeof error?.message !== 'string') return fallback
    const param = typeof error.param === 'string' ? error.param.replace(/^body\.?/, '').split('.') : []
    return { message: extractSentence(error.message), param: param.filter(Boolean), type: error.type }
  } catch {
    return fallback
  }
}

interface EngineError {
  message?: unknown
  param?: unknown
  type?: unknown
}
