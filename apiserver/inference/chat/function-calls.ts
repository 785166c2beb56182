import { valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { ChatMessage, ChatRequest } from './chat-schema.ts'

/** A chat whose functions are tools, and the members that change on its way to an engine. */
export interface ConvertedChat {
  chat: ChatRequest
  changes: Record<string, unknown>
  issues: ValidationIssue[]
}

/** Whether a chat has the first form of tools: `functions`, and messages with the role `function` or one call. */
export function usesFunctions(value: unknown): boolean {
  if (!isObject(value)) return false
  const { functions = null, function_call: choice = null, messages } = value
  if (functions !== null || choice !== null) return true
  return Array.isArray(messages) && messages.some((message) => isObject(message) && isOldMessage(message))
}

/**
 * Converts functions to tools, which engines know. The member `function_call` stays in the request, so that the engine
 * writes calls in both forms (`function_calls.py`).
 */
export function convertFunctions(asked: ChatRequest): ConvertedChat {
  if (!usesFunctions(asked)) return { chat: asked, changes: {}, issues: [] }
  const { functions, function_call: choice, ...rest } = asked
  const tools = (functions ?? []).map((described) => ({ type: 'function', function: described }))
  const converted = {
    messages: convertMessages(asked.messages),
    // The first form has room for one call.
    ...(tools.length > 0 && { tools, tool_choice: convertChoice(choice), parallel_tool_calls: false }),
  }
  const mark = { functions: undefined, function_call: tools.length > 0 ? 'auto' : undefined }
  return { chat: { ...rest, ...converted }, changes: { ...converted, ...mark }, issues: findMixed(asked) }
}

function convertChoice(choice: ChatRequest['function_call']): string | object {
  return isObject(choice) ? { type: 'function', function: choice } : (choice ?? 'auto')
}

function findMixed({ functions, function_call: choice = null, tools, tool_choice: newer = null }: ChatRequest) {
  const issues: ValidationIssue[] = []
  const has = (list: unknown[] | null | undefined) => (list?.length ?? 0) > 0
  if (has(functions) && has(tools)) issues.push(valueError(['body', 'functions'], 'send either functions or tools'))
  if (choice === null) return issues
  if (newer !== null) issues.push(valueError(['body', 'function_call'], 'send either function_call or tool_choice'))
  if (typeof choice === 'string' && choice !== 'auto' && choice !== 'none')
    issues.push(valueError(['body', 'function_call'], 'it should be auto, none, or an object with a name'))
  if (choice !== 'auto' && choice !== 'none' && !has(functions))
    issues.push(valueError(['body', 'function_call'], 'a function can be chosen only of functions'))
  return issues
}

function isOldMessage({ role, function_call: call = null, tool_calls: calls }: Record<string, unknown>): boolean {
  return role === 'function' || (call !== null && !(Array.isArray(calls) && calls.length > 0))
}

/** A result belongs to the last call of its function. Calls in the first form have no ids, so they get some. */
function convertMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const ids = new Map<unknown, unknown>()
  return messages.map((message, index) => {
    const made = isOldMessage(message) ? convertMessage(message, { index, ids }) : message
    for (const call of made.tool_calls ?? []) rememberCall(ids, call)
    return made
  })
}

interface MessageContext {
  index: number
  /** The ids of the last calls, by the names of their functions. */
  ids: ReadonlyMap<unknown, unknown>
}

function convertMessage(message: ChatMessage, { index, ids }: MessageContext): ChatMessage {
  const { function_call: call, ...rest } = message
  // Mistral's templates accept only ids of nine letters and digits.
  const id = `call${String(index).padStart(5, '0')}`
  if (message.role !== 'function') return { ...rest, tool_calls: [{ id, type: 'function', function: call }] }
  return { ...rest, role: 'tool', content: message.content ?? '', tool_call_id: ids.get(message['name']) ?? id }
}

function rememberCall(ids: Map<unknown, unknown>, call: object): void {
  if ('function' in call && isObject(call.function) && 'id' in call) ids.set(call.function['name'], call.id)
}
