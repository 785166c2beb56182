import { unprocessable } from '../../../lib/http/http-error.ts'
import { chatLimitBytes, type ChatReader } from '../../inference/chat/chat-reader.ts'
import type { JsonDocument } from '../../../lib/json/document.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { fillMessages } from './template.ts'

// With this before it, clients name a model of a hosted service; here every model is our own.
const hostedPrefix = 'coreweave/'

// What chats do not have: prompts are put in, and the others are for other providers than this one.
const notOfChats = ['prompt', 'template_vars', 'timeout', 'extra_headers', 'api_version', 'vertex_credentials']

/** What a completion is asked for with. */
export interface ChatInputs {
  /** Without members that are null. */
  document: JsonDocument
  model: string
  messages: unknown[]
  prompt: string | undefined
  templateVars: Record<string, unknown> | undefined
}

/** @throws {HttpError} 422, and as the reader does */
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

/** What is kept of the inputs with the call: headers may hold keys of other services. */
export function keepInputs({ document }: ChatInputs): Buffer {
  return document.members.change({ extra_headers: undefined })
}

/**
 * The text of the chat that the gateway is asked for. A stream tells its usage at its end; all that is not changed keeps its
 * bytes.
 *
 * @throws {HttpError} 400 for a variable that is missing, and where variables make the chat too large
 */
export function buildChat(inputs: ChatInputs, promptMessages: unknown[], isStream: boolean): Buffer {
  const { document, model, messages, templateVars } = inputs
  const isTemplate = templateVars !== undefined && Object.keys(templateVars).length > 0
  const together = [...promptMessages, ...messages]
  return document.members.change({
    ...Object.fromEntries(notOfChats.map((name) => [name, undefined])),
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

function issue(place: string[], msg: string, type: string) {
  return unprocessable({ loc: ['body', 'inputs', ...place], msg, type })
}
