import { isObject } from '../../../lib/json/is-object.ts'

/**
 * The issue of a line of SFT data; undefined for a line that a trainer accepts. The trainer has the same rules
 * (trainer/trainyard_trainer/data/json_input.py). It validates again, because data also comes from elsewhere. The tests
 * of both use test/cases/sft-rows.json.
 */
export function findRowIssue(row: unknown): string | undefined {
  if (!isObject(row)) return 'must be an object: {"messages": [...]}'
  const { messages } = row
  if (!Array.isArray(messages) || messages.length === 0) {
    return 'has no messages: each line is {"messages": [{"role": "user", "content": "..."}, ...]}'
  }
  for (const [index, message] of messages.entries()) {
    const issue = findMessageIssue(message)
    if (issue !== undefined) return `has an invalid message ${index + 1}: ${issue}`
  }
  return findToolsIssue(row)
}

function findToolsIssue({ tools = null, functions = null }: Record<string, unknown>): string | undefined {
  for (const [name, value] of Object.entries({ tools, functions })) {
    if (value !== null && !(Array.isArray(value) && value.every(isObject)))
      return `has invalid ${name}: they must be a list of objects`
  }
  return isEmpty(tools) || isEmpty(functions) ? undefined : 'has both tools and functions: send only tools'
}

/** Whether a line has something to learn from. */
export function hasAnswer(row: unknown): boolean {
  const messages = isObject(row) && Array.isArray(row['messages']) ? row['messages'] : []
  return messages.some((item: unknown) => isObject(item) && isTrained(item))
}

function isTrained(item: Record<string, unknown>): boolean {
  const isMasked = listHolders(item).some(
    ({ weight, trainable, train }) => weight === 0 || trainable === false || train === false,
  )
  return !isMasked && (isChoice(item) || item['role'] === 'assistant')
}

/** The message of a Choice, or the Choice itself, may say that it is not trained. */
function listHolders(item: Record<string, unknown>): Record<string, unknown>[] {
  return isChoice(item) && isObject(item['message']) ? [item, item['message']] : [item]
}

function findMessageIssue(item: unknown): string | undefined {
  if (!isObject(item)) return 'it must be an object'
  const message = isChoice(item) ? item['message'] : item
  if (!isObject(message)) return 'it must be an object'
  const { role, content = null } = message
  if (typeof role !== 'string' && !(isChoice(item) && (role ?? null) === null)) return 'its role must be a string'
  if (!isContent(content)) return 'its content must be a string, a list of text parts, or null'
  return findMediaIssue(content) ?? findCallIssue(message) ?? findMaskIssue(item)
}

function findMediaIssue(content: unknown): string | undefined {
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  const kind = parts.map(findMedia).find((found) => found !== undefined)
  return kind === undefined ? undefined : `its content has a part with "${kind}", and only text can be trained on`
}

/** The type of a part that is an image, a sound, a video or a file. Without a type, the member that is one. */
function findMedia({ type, ...part }: Record<string, unknown>): string | undefined {
  const members = (part['text'] ?? null) === null ? Object.keys(part) : []
  return (typeof type === 'string' ? [type] : members).find((name) => /image|audio|video|file/.test(name))
}

function findCallIssue({ tool_calls: calls, function_call: call }: Record<string, unknown>): string | undefined {
  if (!isEmpty(calls) && !(Array.isArray(calls) && calls.every(isCall)))
    return 'its tool_calls must be a list of objects, each with an object "function"'
  if (isEmpty(call)) return undefined
  if (!isObject(call) || typeof call['name'] !== 'string')
    return 'its function_call must be an object with a string "name"'
  return isEmpty(calls) ? undefined : 'it has both tool_calls and function_call: send only tool_calls'
}

function findMaskIssue(item: Record<string, unknown>): string | undefined {
  for (const { weight = null, trainable = null, train = null } of listHolders(item)) {
    if (![null, 0, 1].includes(weight as number | null)) return 'its weight must be 0 or 1'
    if (![trainable, train].every((flag) => flag === null || typeof flag === 'boolean'))
      return 'its trainable and train must be true or false'
  }
  return undefined
}

/** Whether Python treats a value as false: clients write such values for no calls. */
function isEmpty(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0)
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
