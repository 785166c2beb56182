import { valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { readContent, type ChatContent } from './content.ts'
import type { InputItem } from './schema.ts'

/** A message of the chat that produces a response. */
export interface ChatMessage {
  role: string
  content?: ChatContent
  reasoning?: string
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

const itemTypes = 'message, function_call, function_call_output, reasoning and item_reference'
const noSuchItem = 'no stored response of this entity has an item of this id in its output: send the item itself'

/**
 * Converts items to messages. The reasoning, text and calls of one assistant turn become one message, because chat
 * templates expect that.
 */
export class ChatMessages {
  readonly list: ChatMessage[] = []
  /** The path of the first item of each message. */
  readonly paths: string[][] = []
  readonly issues: ValidationIssue[] = []
  #path: string[] = []

  /** @param path the item's path in the request, for errors */
  add(item: InputItem, path: string[]): void {
    this.#path = path
    const { type = 'message' } = item
    if (type === 'message') this.#addMessage(item)
    else if (type === 'function_call') this.#addCall(item)
    else if (type === 'function_call_output') this.#addOutput(item)
    else if (type === 'reasoning') this.#addReasoning(item)
    else if (type === 'item_reference') this.#reject('id', noSuchItem)
    else this.#reject('type', `items of this type are not supported: send items of the types ${itemTypes}`)
  }

  /**
   * Instructions and system messages at the beginning become one message, because many templates accept a system
   * message only at the start.
   */
  addSystem(content: ChatContent, path: string[]): void {
    const [first] = this.list
    if (this.list.length === 1 && first?.role === 'system' && isText(first.content) && isText(content)) {
      first.content = `${first.content}\n\n${content}`
    } else {
      this.#push({ role: 'system', content }, path)
    }
  }

  #addMessage({ role, content }: InputItem): void {
    const read = readContent(content, this.#path)
    this.issues.push(...read.issues)
    if (role === 'assistant') this.#addText(read.content)
    // OpenAI's models treat both roles alike. Few other models know `developer`.
    else if (role === 'developer' || role === 'system') this.addSystem(read.content, this.#path)
    else if (role === 'user') this.#push({ role, content: read.content }, this.#path)
    else this.#reject('role', 'the role should be user, assistant, system or developer')
  }

  #addText(content: ChatContent): void {
    const turn = this.#findTurn()
    if (turn && turn.content === undefined && !turn.tool_calls) turn.content = content
    else this.#push({ role: 'assistant', content }, this.#path)
  }

  #addCall({ call_id: id, name, arguments: given }: InputItem): void {
    if (!isText(id) || !isText(name) || !isText(given))
      return this.#reject('call_id', 'a function call should have the texts call_id, name and arguments')
    const call = { id, type: 'function' as const, function: { name, arguments: given } }
    const turn = this.#findTurn()
    if (turn) turn.tool_calls = [...(turn.tool_calls ?? []), call]
    else this.#push({ role: 'assistant', tool_calls: [call] }, this.#path)
  }

  #addOutput({ call_id: id, output }: InputItem): void {
    if (!isText(id)) return this.#reject('call_id', 'the output of a function call should have its call_id')
    const read = readContent(output, this.#path, 'output')
    this.issues.push(...read.issues)
    this.#push({ role: 'tool', tool_call_id: id, content: read.content }, this.#path)
  }

  #addReasoning({ content, summary, encrypted_content: encrypted }: InputItem): void {
    const reasoning = joinTexts(content) || joinTexts(summary)
    if (!reasoning && typeof encrypted === 'string')
      return this.#reject('encrypted_content', 'another server has encrypted this reasoning: leave the item out')
    if (reasoning) this.#push({ role: 'assistant', reasoning }, this.#path)
  }

  /** The last message if it is an assistant's. */
  #findTurn(): ChatMessage | undefined {
    const last = this.list.at(-1)
    return last?.role === 'assistant' ? last : undefined
  }

  #push(message: ChatMessage, path: string[]): void {
    this.list.push(message)
    this.paths.push(path)
  }

  #reject(name: string, reason: string): void {
    this.issues.push(valueError(['body', ...this.#path, name], reason))
  }
}

/** The joined texts of the parts of a reasoning item. */
function joinTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts.flatMap((part) => (isObject(part) && isText(part['text']) ? [part['text']] : [])).join('\n')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
