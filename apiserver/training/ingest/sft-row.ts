import { isObject } from '../../../lib/json/is-object.ts'

/**
 * The issue of a line of SFT data; undefined for a line that a trainer accepts. The trainer has the same rules
 * (trainer/trainyard_trainer/data/json_input.py). It validates again, because data also comes from elsewhere. The tests
 * of both use test/cases/sft-rows.json.
 */
export function findRowIssue(row: unknown): string | undefined {
  if (!isObject(row)) return 'must be an object: {"messages": [...]}'
  const { messages, tools = null } = row
  if (!Array.isArray(messages) || messages.length === 0) {
    return 'has no messages: each line is {"messages": [{"role": "user", "content": "..."}, ...]}'
  }
  if (tools !== null && !(Array.isArray(tools) && tools.every(isObject)))
    return 'has invalid tools: they must be a list of objects'
  for (const [index, message] of messages.entries()) {
    const issue = findMessageIssue(message)
    if (issue !== undefined) return `has an invalid message ${index + 1}: ${issue}`
  }
  return undefined
}

/** Whether a line has something to learn from. */
export function hasAnswer(row: unknown): boolean {
  const messages = isObject(row) && Array.isArray(row['messages']) ? row['messages'] : []
  return messages.some((item: unknown) => isObject(item) && (isChoice(item) || item['role'] === 'assistant'))
}

function findMessageIssue(item: unknown): string | undefined {
  if (!isObject(item)) return 'it must be an object'
  const message = isChoice(item) ? item['message'] : item
  if (!isObject(message)) return 'it must be an object'
  const { role, content = null, tool_calls: calls } = message
  if (typeof role !== 'string' && !(isChoice(item) && (role ?? null) === null)) return 'its role must be a string'
  if (!isContent(content)) return 'its content must be a string, a list of text parts, or null'
  return isEmpty(calls) || (Array.isArray(calls) && calls.every(isCall))
    ? undefined
    : 'its tool_calls must be a list of objects, each with an object "function"'
}

/** Whether Python treats a value as false: clients write such values for no calls. */
function isEmpty(value: unknown): boolean {
  return !value || (isObject(value) && Object.keys(value).length === 0)
}

function isCall(call: unknown): boolean {
  return isObject(call) && isObject(call['function'])
}

function isContent(content: unknown): boolean {
  if (content === null || typeof content === 'string') return true
  return Array.isArray(content) && content.every(isPart)
}

function isPart(part: unknown): boolean {
  if (typeof part === 'string') return true
  return isObject(part) && ['string', 'undefined'].includes(typeof (part['text'] ?? undefined))
}

/** A Choice was sampled from a model; anything else is a plain message. */
function isChoice(item: Record<string, unknown>): boolean {
  return 'finish_reason' in item && 'message' in item
}
