import { unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { ChatMessages } from './chat-messages.ts'
import { sharedFields } from './fields.ts'
import type { InputItem, ResponseRequest } from './schema.ts'
import { convertTools } from './tools.ts'

/** The chat that produces a response. */
export interface ResponseChat {
  body: Record<string, unknown>
  /** The path in the request that each of its messages comes from. */
  paths: string[][]
}

const withLogprobs = 'message.output_text.logprobs'

/** Whether the parts of the output have their log-probabilities. */
export function wantsLogprobs({ include }: ResponseRequest): boolean {
  return include?.includes(withLogprobs) === true
}

// The others are about tools that run at OpenAI, or about members that this server always includes.
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
 * Converts a request to a chat. For models that are trained here, the gateway asks for ids and log-probabilities.
 *
 * @param earlier items of the earlier responses of the conversation
 * @throws {HttpError} 422
 */
export function buildResponseChat(request: ResponseRequest, earlier: readonly InputItem[]): ResponseChat {
  const messages = readMessages(request, earlier)
  const { issues, ...tools } = convertTools(request)
  issues.push(...messages.issues, ...findUnknownIncludes(request))
  if (issues.length > 0) throw unprocessable(...issues)
  const body = { messages: messages.list, ...pickShared(request), ...convertOptions(request), ...tools }
  return { body, paths: messages.paths }
}

/** The request's own items. A text is a message of the user. */
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
  return {
    ...(wantsLogprobs(request) && { logprobs: true, top_logprobs: request.top_logprobs ?? 0 }),
    ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
    ...(reasoning?.effort != null && { reasoning_effort: reasoning.effort }),
    ...convertFormat(text?.format),
    // vLLM then keeps the end of a prompt that is too long.
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
