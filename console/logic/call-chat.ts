import { readTurns, type Turn } from './chat.ts'

// Clients write chats in many forms: OpenAI's and Anthropic's requests, weave's completions, and spans of OpenTelemetry with
// the messages under names of the conventions. What is none of them has no chat view.

/** The turns of a call: the messages of its inputs, then those of its output. Empty for a call that is no chat. */
export function readCallTurns({ inputs, output }: { inputs?: unknown; output?: unknown }): Turn[] {
  const asked = findMessages(inputs)
  const answered = findAnswer(output)
  // A value that is only an output is a message if it has the form of one.
  if (asked.length === 0 && !answered.some(isChoice)) return []
  return readTurns([...asked, ...answered.map(markSampled)].map(unifyMessage))
}

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isMessage = (value: unknown): value is Members =>
  isObject(value) &&
  typeof value['role'] === 'string' &&
  ('content' in value || 'parts' in value || 'tool_calls' in value)
const isChoice = (value: unknown): value is Members => isObject(value) && isObject(value['message'])
const isList = (value: unknown, isItem: (item: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(isItem)

// Where requests and spans have their messages, below their members.
const messageNames = [
  'messages',
  'input.messages',
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'llm.input_messages',
  'pydantic_ai.all_messages',
  'ai.prompt.messages',
  'ai.prompt',
  'input.value',
  'input',
  'prompt',
]

function findMessages(inputs: unknown): unknown[] {
  if (isList(inputs, isMessage)) return inputs
  if (!isObject(inputs)) return []
  const system = readSystem(inputs)
  for (const name of messageNames) {
    const found = unwrap(memberAt(inputs, name))
    if (isList(found, (item) => isMessage(item) || isChoice(item))) return [...system, ...found]
    if (isObject(found) && isList(found['messages'], isMessage)) return [...system, ...found['messages']]
    if (typeof found === 'string' && system.length > 0) return [...system, { role: 'user', content: found }]
  }
  return []
}

/** What Anthropic's requests and the conventions have beside the messages. */
function readSystem(inputs: Members): unknown[] {
  const found = unwrap(inputs['system'] ?? inputs['instructions'] ?? memberAt(inputs, 'gen_ai.system_instructions'))
  if (typeof found === 'string' && found !== '') return [{ role: 'system', content: found }]
  return Array.isArray(found) && found.length > 0 ? [{ role: 'system', parts: found }] : []
}

const answerNames = [
  'choices',
  'output.messages',
  'gen_ai.output.messages',
  'gen_ai.completion',
  'llm.output_messages',
  'ai.response',
  'output.value',
  'output',
]

function findAnswer(output: unknown): unknown[] {
  const value = unwrap(output)
  if (typeof value === 'string') return value === '' ? [] : [{ message: { role: 'assistant', content: value } }]
  if (isMessage(value) || isChoice(value)) return [value]
  if (isList(value, (item) => isMessage(item) || isChoice(item))) return value
  if (!isObject(value)) return []
  for (const name of answerNames) {
    const found = unwrap(memberAt(value, name))
    if (isList(found, (item) => isMessage(item) || isChoice(item))) return found
    if (isMessage(found)) return [found]
    if (typeof found === 'string' && found !== '') return [{ message: { role: 'assistant', content: found } }]
  }
  // The Vercel AI SDK writes an answer as its parts.
  const response = memberAt(value, 'ai.response')
  if (typeof value['text'] === 'string') return [{ message: { role: 'assistant', content: value['text'] } }]
  if (isObject(response) && typeof response['text'] === 'string')
    return [{ message: { role: 'assistant', content: response['text'] } }]
  return []
}

/** A member under its whole name, or below the parts of it. */
function memberAt(value: Members, name: string): unknown {
  if (Object.hasOwn(value, name)) return value[name]
  return name
    .split('.')
    .reduce<unknown>((found, part) => (isObject(found) && Object.hasOwn(found, part) ? found[part] : undefined), value)
}

/** Instrumentations write JSON as a text. */
function unwrap(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const markSampled = (item: unknown): unknown => (isChoice(item) ? item : { message: item })

/** Writes a message of the conventions (`parts`) or of Anthropic (blocks) as one of OpenAI's. */
function unifyMessage(item: unknown): unknown {
  if (isChoice(item)) return { ...item, message: unifyMessage(item['message']) }
  if (!isObject(item)) return item
  const message = isObject(item['message']) ? { ...item['message'] } : item
  const parts = message['parts'] ?? message['content']
  if (!Array.isArray(parts) || !parts.every(isObject)) return message
  const others = parts.filter((part) => !isCallPart(part) && !isThought(part) && !isResult(part))
  const calls = parts.filter(isCallPart).map(writeToolCall)
  const results = parts.filter(isResult)
  const thought = parts.filter(isThought).map(textOf).join('\n')
  const { parts: _, ...rest } = message
  return {
    ...rest,
    ...(results.length > 0 && others.length === 0 && calls.length === 0 && { role: 'tool' }),
    content: [...others.map((part) => writeText(part)), ...results.map((part) => writeText(part))],
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thought !== '' && { reasoning: thought }),
    finish_reason: message['finish_reason'],
  }
}

const typeOf = (part: Members) => part['type'] ?? part['kind'] ?? part['part_kind']
const isCallPart = (part: Members) => ['tool_call', 'tool_use', 'tool-call'].includes(String(typeOf(part)))
const isThought = (part: Members) => ['reasoning', 'thinking'].includes(String(typeOf(part)))
const isResult = (part: Members) =>
  ['tool_call_response', 'tool_result', 'tool-return', 'tool-result'].includes(String(typeOf(part)))

function textOf(part: Members): string {
  const text = part['thinking'] ?? part['content'] ?? part['text']
  return typeof text === 'string' ? text : JSON.stringify(text ?? part)
}

function writeToolCall(part: Members) {
  const given = part['arguments'] ?? part['input'] ?? part['args'] ?? {}
  return { function: { name: part['name'] ?? part['toolName'] ?? part['tool_name'] ?? '', arguments: given } }
}

/** A part as a text, as far as it is one. */
function writeText(part: Members): Members {
  const text = part['text'] ?? part['content'] ?? part['response'] ?? part['result'] ?? part['output']
  if (typeof text === 'string') return { type: 'text', text }
  return text === undefined ? part : { type: 'text', text: JSON.stringify(text, null, 2) }
}
