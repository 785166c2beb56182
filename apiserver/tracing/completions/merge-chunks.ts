import { isObject } from '../../../lib/json/is-object.ts'

interface ToolCall {
  id: string | null
  type: string
  function: { name: string; arguments: string }
}

interface MergedChoice {
  content: string
  /** Of a completion without a chat. */
  text: string | undefined
  reasoning: string
  toolCalls: Map<number, ToolCall>
  finishReason: unknown
}

type Members = Record<string, unknown>

// Members of the whole completion. The first chunk that has one sets it.
const sharedMembers = ['id', 'created', 'model', 'system_fingerprint', 'service_tier']

/** Merges the chunks of a stream, of a chat or of a text, into the completion that a request without streaming would have returned. */
export class ChunkMerger {
  #whole: Members = {}
  #size = 0
  readonly #choices = new Map<number, MergedChoice>()
  /** The usage of the whole chat, from its last chunk. */
  usage: unknown
  /** The error that the engine reported. */
  error: string | undefined

  /** The characters of all texts that were merged. */
  get size(): number {
    return this.#size
  }

  add(chunk: unknown): void {
    if (isObject(chunk)) this.#addChunk(chunk)
  }

  #addChunk(chunk: Members): void {
    const found = sharedMembers.filter((name) => chunk[name] !== undefined && chunk[name] !== null)
    this.#whole = { ...Object.fromEntries(found.map((name) => [name, chunk[name]])), ...this.#whole }
    if (isObject(chunk['usage'])) this.usage = chunk['usage']
    if (chunk['error'] !== undefined) this.error = readError(chunk['error'])
    for (const choice of listObjects(chunk['choices'])) this.#addChoice(choice)
  }

  /** Undefined before the first chunk. */
  merge(): Members | undefined {
    if (this.#choices.size === 0 && this.usage === undefined) return undefined
    const inOrder = [...this.#choices].sort(([a], [b]) => a - b)
    return {
      ...this.#whole,
      object: inOrder.some(([, { text }]) => text !== undefined) ? 'text_completion' : 'chat.completion',
      choices: inOrder.map(([index, choice]) => presentChoice(index, choice)),
      ...(this.usage === undefined ? {} : { usage: this.usage }),
    }
  }

  #addChoice(choice: Members): void {
    const merged = this.#findChoice(readIndex(choice['index']))
    if (choice['finish_reason'] !== undefined) merged.finishReason = choice['finish_reason']
    if (typeof choice['text'] === 'string') this.#addText(merged, choice['text'])
    const { delta } = choice
    if (!isObject(delta)) return
    const content = readText(delta['content'])
    const reasoning = readText(delta['reasoning_content'] ?? delta['reasoning'])
    merged.content += content
    merged.reasoning += reasoning
    this.#size += content.length + reasoning.length
    for (const call of listObjects(delta['tool_calls'])) this.#size += addToolCall(merged.toolCalls, call)
  }

  #addText(merged: MergedChoice, text: string): void {
    merged.text = (merged.text ?? '') + text
    this.#size += text.length
  }

  #findChoice(index: number): MergedChoice {
    const known = this.#choices.get(index)
    if (known) return known
    const toolCalls = new Map<number, ToolCall>()
    const begun = { content: '', text: undefined, reasoning: '', toolCalls, finishReason: null }
    this.#choices.set(index, begun)
    return begun
  }
}

/** @returns how many characters were added to the call */
function addToolCall(calls: Map<number, ToolCall>, delta: Members): number {
  const index = readIndex(delta['index'])
  const call = calls.get(index) ?? { id: null, type: 'function', function: { name: '', arguments: '' } }
  calls.set(index, call)
  if (typeof delta['id'] === 'string') call.id = delta['id']
  const named = isObject(delta['function']) ? delta['function'] : {}
  const [name, given] = [readText(named['name']), readText(named['arguments'])]
  call.function.name += name
  call.function.arguments += given
  return name.length + given.length
}

function presentChoice(index: number, { content, text, reasoning, toolCalls, finishReason }: MergedChoice): Members {
  if (text !== undefined) return { index, text, finish_reason: finishReason }
  const inOrder = [...toolCalls].sort(([a], [b]) => a - b).map(([, call]) => call)
  const message = {
    role: 'assistant',
    content: content === '' && inOrder.length > 0 ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(inOrder.length > 0 ? { tool_calls: inOrder } : {}),
  }
  return { index, message, finish_reason: finishReason }
}

function listObjects(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function readError(error: unknown): string {
  if (isObject(error) && typeof error['message'] === 'string') return error['message']
  return typeof error === 'string' ? error : JSON.stringify(error)
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function readIndex(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
