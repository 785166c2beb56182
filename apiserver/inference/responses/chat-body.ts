import { unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { ChatMessages } from './chat-messages.ts'
import { sharedFields } from './fields.ts'
import type { InputItem, ResponseRequest } from './schema.ts'
import { convertTools } from './tools.ts'

/** The chat that a response is made with. */
export interface ResponseChat {
  body: Record<string, unknown>
  /** Where each of its messages comes from in the request. */
  places: string[][]
}

const withLogprobs = 'message.output_text.logprobs'
// The others tell of tools that run at OpenAI, and of what this server never hides.
const knownIncludes = new Set([
  withLogprobs,
  'reasoning.encrypted_content',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'web_search_call.action.sources',
  'web_search_call.results',
])

/**
 * Converts a request to a chat, of which no training default holds: nobody trains on responses.
 *
 * @param earlier items of the responses that this one goes on from
 * @throws {HttpError} 422
 */
export function buildResponseChat(request: ResponseRequest, earlier: readonly InputItem[]): ResponseChat {
  const messages = readMessages(request, earlier)
  const { issues, ...tools } = convertTools(request)
  issues.push(...messages.issues, ...findUnknownIncludes(request))
  if (issues.length > 0) throw unprocessable(...issues)
  const body = { messages: messages.list, ...pickShared(request), ...convertOptions(request), ...tools }
  return { body, places: messages.places }
}

/** The request's own items: a text is what the user says. */
export function listInput({ input = null }: ResponseRequest): InputItem[] {
  if (typeof input !== 'string') return input ?? []
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
}

function readMessages(request: ResponseRequest, earlier: readonly InputItem[]): ChatMessages {
  const messages = new ChatMessages()
  if (request.instructions) messages.addSystem(request.instructions, ['instructions'])
  for (const item of earlier) messages.add(item, ['previous_response_id'])
  const isText = typeof request.input === 'string'
  for (const [index, item] of listInput(request).entries()) {
    messages.add(item, isText ? ['input'] : ['input', String(index)])
  }
  return messages
}

function pickShared(request: ResponseRequest): Record<string, unknown> {
  return Object.fromEntries(
    sharedFields.filter((name) => (request[name] ?? null) !== null).map((name) => [name, request[name]]),
  )
}

function convertOptions(request: ResponseRequest): Record<string, unknown> {
  const { max_output_tokens: maxTokens = null, reasoning, text, truncation, stream } = request
  const hasLogprobs = request.include?.includes(withLogprobs) === true
  return {
    // Models that are trained here are asked for these unless a chat says otherwise.
    logprobs: hasLogprobs,
    return_token_ids: false,
    ...(hasLogprobs && { top_logprobs: request.top_logprobs ?? 0 }),
    ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
    ...(reasoning?.effort != null && { reasoning_effort: reasoning.effort }),
    ...convertFormat(text?.format),
    // What vLLM makes of it: the end of what does not fit is kept.
    ...(truncation === 'auto' && { truncate_prompt_tokens: -1 }),
    ...(stream === true && { stream, return_tokens_as_token_ids: false, stream_options: { include_usage: true } }),
  }
}

function convertFormat(format: unknown): Record<string, unknown> {
  if (!isObject(format) || format['type'] === 'text') return {}
  const { type, ...schema } = format
  if (type !== 'json_schema') return { response_format: { type } }
  const set = Object.entries(schema).filter(([, value]) => value !== null)
  return { response_format: { type, json_schema: Object.fromEntries(set) } }
}

function findUnknownIncludes({ include }: ResponseRequest): ValidationIssue[] {
  const unknown = (include ?? []).find((name) => !knownIncludes.has(name))
  if (unknown === undefined) return []
  const reason = `include should have only ${[...knownIncludes].join(', ')}`
  return [valueError(['body', 'include'], reason)]
}
