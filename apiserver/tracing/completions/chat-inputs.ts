import { unprocessable } from '../../../lib/http/http-error.ts'
import { chatLimitBytes, type ChatReader } from '../../inference/chat/chat-reader.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { fillMessages } from './template.ts'

// Clients put this before the models of a hosted service. Here the name without it is a model of this server.
const hostedPrefix = 'coreweave/'

// Members that a chat does not have. The first two are applied here, and the others are for other providers.
const nonChatMembers = ['prompt', 'template_vars', 'timeout', 'extra_headers', 'api_version', 'vertex_credentials']

/** The inputs of a completion. */
export interface ChatInputs {
  /** Members that are null are left out. */
  document: JsonDocument
  model: string
  messages: unknown[]
  prompt: string | undefined
  templateVars: Record<string, unknown> | undefined
}

/** @throws {HttpError} 422, and what `reader` throws */
export function readInputs(text: JsonText, reader: ChatReader): ChatInputs {
  const given = reader.parse(text.bytes)
  const { value } = given
  if (!isObject(value)) throw issue([], 'Input should be a valid dictionary', 'dict_type')
  const nulls = Object.keys(value).filter((name) => value[name] === null)
  const { model, messages = [], prompt, template_vars: templateVars } = dropNulls(value)
  if (model === undefined) throw issue(['model'], 'Field required', 'missing')
  if (typeof model !== 'string') throw issue(['model'], 'Input should be a valid string', 'string_type')
  if (!Array.isArray(messages)) throw issue(['messages'], 'Input should be a valid list', 'list_type')
  if (prompt !== undefined && typeof prompt !== 'string')
    throw issue(['prompt'], 'Input should be a valid string', 'string_type')
  if (templateVars !== undefined && !isObject(templateVars))
    throw issue(['template_vars'], 'Input should be a valid dictionary', 'dict_type')
  return {
    document: nulls.length > 0 ? reader.parse(leaveOut(given, nulls)) : given,
    model: model.startsWith(hostedPrefix) ? model.slice(hostedPrefix.length) : model,
    messages,
    prompt: prompt || undefined,
    templateVars,
  }
}

/**
 * The inputs that are stored with the call. Extra headers are left out, because they may contain keys of other
 * services.
 */
export function buildStoredInputs({ document }: ChatInputs): Buffer {
  return document.members.change({ extra_headers: undefined })
}

/**
 * Builds the chat that the gateway is asked for. A stream is asked to report its usage at the end. Members that are not
 * changed keep their bytes.
 *
 * @throws {HttpError} 400 for a missing variable, and for variables that make the chat too large
 */
export function buildChat(inputs: ChatInputs, promptMessages: unknown[], isStream: boolean): Buffer {
  const { document, model, messages, templateVars } = inputs
  const isTemplate = templateVars !== undefined && Object.keys(templateVars).length > 0
  const together = [...promptMessages, ...messages]
  return document.members.change({
    ...Object.fromEntries(nonChatMembers.map((name) => [name, undefined])),
    ...(isTemplate || promptMessages.length > 0
      ? { messages: isTemplate ? fillMessages(together, templateVars, chatLimitBytes) : together }
      : {}),
    stream: isStream,
    stream_options: isStream ? { ...readStreamOptions(document), include_usage: true } : undefined,
    model,
  })
}

function readStreamOptions({ value }: JsonDocument): object {
  const options = (value as Record<string, unknown>)['stream_options']
  return isObject(options) ? options : {}
}

function leaveOut({ members }: JsonDocument, names: string[]): Buffer {
  return members.change(Object.fromEntries(names.map((name) => [name, undefined])))
}

function dropNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

function issue(path: string[], msg: string, type: string) {
  return unprocessable({ loc: ['body', 'inputs', ...path], msg, type })
}
